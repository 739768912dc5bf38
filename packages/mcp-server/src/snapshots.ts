import { randomUUID } from "node:crypto";
import { type Provider, type Sandbox, SandboxError } from "@sandkit/core";
import type { Config } from "./config.js";
import { markOf, openHandle, type Principal, sealHandle } from "./principal.js";
import type { ProviderSource } from "./provider.js";

/** Tells the handle of a snapshot from that of a sandbox. */
const mark = "snapshot-";

export interface SnapshotsOptions {
  readonly config: Config;
  readonly provider: ProviderSource;
  readonly principal: Principal;
}

/** The snapshots of one principal, counted against the cap; to anybody else they are unknown. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  /** Where the backend does not tell which there are: those taken here and not removed here. */
  readonly #known = new Set<string>();
  #taking = 0;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /**
   * Takes one; gives its handle and its id.
   * @throws SandboxError `QUOTA` at the cap
   */
  async take(sandbox: Sandbox): Promise<{ readonly handle: string; readonly id: string }> {
    const provider = await this.#options.provider.get();
    // Before the first wait: of two at once the second sees the first.
    const ahead = this.#taking++;
    try {
      const there = await this.#there(provider);
      if (there.length + ahead >= this.#options.config.maxSnapshots) throw this.#noRoom(provider, there);
      const { id } = await sandbox.snapshot(provider.snapshots && `${this.#names}${randomUUID()}`);
      this.#known.add(id);
      return { handle: this.#seal(id), id };
    } finally {
      this.#taking -= 1;
    }
  }

  /**
   * Removes one; false when it was gone already.
   * @throws SandboxError `NOT_FOUND` for a handle that was never given out; `UNSUPPORTED` where the provider removes none
   */
  async remove(handle: string): Promise<boolean> {
    const id = this.idOf(handle);
    const provider = await this.#options.provider.get();
    if (provider.removeSnapshot === undefined) {
      const message = `provider "${provider.name}" removes no snapshots: whoever runs the server can, with the tools of its vendor`;
      throw new SandboxError("UNSUPPORTED", message, { operation: "snapshot" });
    }
    const removed = await provider.removeSnapshot(id);
    this.#known.delete(id);
    return removed;
  }

  /** @throws SandboxError `NOT_FOUND` for a handle that was never given to this principal */
  idOf(handle: string): string {
    const id = openHandle(this.#options.principal, handle);
    if (id?.startsWith(mark)) return id.slice(mark.length);
    throw new SandboxError(
      "NOT_FOUND",
      `there is no snapshot ${JSON.stringify(handle.slice(0, 100))}: copy the id from the result of the tool snapshot`,
    );
  }

  /** How their names begin, by which every server with the same secret finds them in the backend's list. */
  get #names(): string {
    return `sandkit-mcp-${markOf(this.#options.principal)}-`;
  }

  async #there(provider: Provider): Promise<readonly string[]> {
    if (provider.snapshots === undefined) return [...this.#known];
    const ids: string[] = [];
    for await (const { id, name } of provider.snapshots()) if (name?.startsWith(this.#names)) ids.push(id);
    return ids;
  }

  #noRoom({ removeSnapshot }: Provider, there: readonly string[]): SandboxError {
    const max = this.#options.config.maxSnapshots;
    const handles = there.map((id) => this.#seal(id)).join(", ");
    const next =
      removeSnapshot === undefined ? "start from one of these" : "remove one of these with snapshot (remove)";
    return new SandboxError(
      "QUOTA",
      `you have ${max} snapshots, which is the most (maxSnapshots): ${next}: ${handles}`,
    );
  }

  #seal(id: string): string {
    return sealHandle(this.#options.principal, `${mark}${id}`);
  }
}
