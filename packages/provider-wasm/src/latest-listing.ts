import type { ListFilesOptions } from "@sandkit/core";
import type { SandboxChild } from "./child-process.js";
import type { FileRecord } from "./protocol.js";

/** A longer listing is not kept. */
const mostKept = 2_000;

/**
 * Lists files, and keeps the latest listing as long as the child says of no change: who looks again and again what was
 * written, as after each cell, asks the child only when something was.
 */
export class LatestListing {
  readonly #child: SandboxChild;
  #changes = 0;
  #kept: { readonly asked: string; readonly records: readonly FileRecord[] } | undefined;

  constructor(child: SandboxChild) {
    this.#child = child;
    child.onFilesChanged(() => {
      this.#changes += 1;
      this.#kept = undefined;
    });
  }

  async records(path: string, options: ListFilesOptions): Promise<readonly FileRecord[]> {
    const asked = JSON.stringify([path, options]);
    if (this.#kept?.asked === asked && this.#child.lost === undefined) return this.#kept.records;
    const before = this.#changes;
    const records = await this.#child.call("list", [path, options], { operation: "files.list", subject: path });
    // What changed meanwhile may have done so after the look.
    if (before === this.#changes && records.length <= mostKept) this.#kept = { asked, records };
    return records;
  }
}
