import type { Sandbox } from "@sandkit/core";
import type { Invocation } from "../../command.js";
import { printable } from "../../printable.js";
import { withProgress } from "../../progress.js";
import { Interrupts } from "../../run/interrupts.js";
import { connect } from "../find-sandbox.js";
import { type Endpoint, endpointsOf } from "./endpoint.js";
import { copyIn } from "./into-sandbox.js";
import { copyOut } from "./out-of-sandbox.js";

/** What a copy is told as it goes, and what it tells. */
export interface Copying {
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  /** Counts what was copied. */
  readonly onBytes: (bytes: number) => void;
  readonly onEntry: () => void;
  /** What is not copied, and why. */
  readonly onLeftOut: (what: string) => void;
}

/** `sandkit cp`: files into a living sandbox, or out of one; resolves with the exit code. */
export async function copyFiles({ values, positionals }: Invocation): Promise<number> {
  const [from, to] = endpointsOf(positionals);
  const interrupts = new Interrupts("the copy");
  const leftOut: string[] = [];
  let bytes = 0;
  let entries = 0;
  try {
    const quiet = values.quiet === true || values.json === true;
    await withProgress(`copying ${positionals[0]}`, quiet, async (onProgress) => {
      const reference = from.kind === "sandbox" ? from.reference : to.kind === "sandbox" ? to.reference : "";
      const signal = interrupts.creation;
      const { sandbox } = await connect(values, reference, signal);
      const tell = () => onProgress(`${entries} entries, ${(bytes / 1e6).toFixed(1)} MB`);
      const copying: Copying = {
        sandbox,
        signal,
        onBytes: (count) => {
          bytes += count;
          tell();
        },
        onEntry: () => {
          entries += 1;
          tell();
        },
        onLeftOut: (what) => leftOut.push(what),
      };
      await copy(copying, from, to);
    });
  } catch (error) {
    if (interrupts.exitCode !== undefined) return interrupts.exitCode;
    throw error;
  } finally {
    interrupts[Symbol.dispose]();
  }
  // With stdout as the target it is the file's.
  if (values.json && to.kind !== "stream") process.stdout.write(`${JSON.stringify({ entries, bytes, leftOut })}\n`);
  else for (const what of leftOut) process.stderr.write(`left out  ${printable(what)}\n`);
  return leftOut.length > 0 ? 1 : 0;
}

async function copy(copying: Copying, from: Endpoint, to: Endpoint): Promise<void> {
  if (from.kind === "sandbox" && to.kind !== "sandbox") await copyOut(copying, from.path, to);
  else if (to.kind === "sandbox" && from.kind !== "sandbox") await copyIn(copying, from, to.path);
}
