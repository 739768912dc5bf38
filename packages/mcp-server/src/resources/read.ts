import type { ReadResourceResult } from "@modelcontextprotocol/server";
import type { Sandbox } from "@sandkit/core";
import { mediaTypeOf } from "../media-type.js";
import type { LiveRun } from "../runs/live-run.js";
import type { Runs } from "../runs/runs.js";
import type { Sandboxes } from "../sandboxes.js";
import { confinedPath } from "./confined-path.js";
import { type logStreams, parseUri } from "./links.js";
import { resourceError } from "./resource-error.js";

export interface ReadContext {
  readonly sandboxes: Sandboxes;
  readonly runs: Runs;
  /** Most that is read of one file, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * What a URI leads to: text where it is text, else base64.
 * @throws ResourceNotFoundError, ProtocolError: in the words of the protocol
 */
export async function readResource(uri: string, context: ReadContext): Promise<ReadResourceResult> {
  const { sandboxes, runs, maxBytes, signal } = context;
  try {
    const target = parseUri(uri);
    if (target.kind === "log") return contents(uri, logOf(runs.find(target.process), target.stream), "text/plain");
    const read = async (sandbox: Sandbox) =>
      await sandbox.files.read(await confinedPath(sandbox, target.path), { maxBytes, signal });
    const { result } = await sandboxes.use(target.handle, { signal }, read);
    return contents(uri, result, mediaTypeOf(target.path));
  } catch (error) {
    throw resourceError(uri, error, maxBytes);
  }
}

/** All that a run has written so far; once it has ended, as much as was kept, byte for byte. */
function logOf({ outcome, log }: LiveRun, stream: (typeof logStreams)[number]): Uint8Array {
  if (outcome === undefined || "error" in outcome || stream === "output") return Buffer.from(log.text(stream));
  const { bytes, text, truncated } = outcome.used.result.ended[stream];
  return truncated ? Buffer.from(text) : bytes;
}

function contents(uri: string, bytes: Uint8Array, mimeType: string | undefined): ReadResourceResult {
  const type = mimeType === undefined ? {} : { mimeType };
  try {
    return { contents: [{ uri, ...type, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }] };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { contents: [{ uri, ...type, blob: Buffer.from(bytes).toString("base64") }] };
  }
}
