import { SandboxError } from "../errors.js";
import type { FileChange } from "../provider.js";
import { refusal } from "./ask.js";
import type { ErrnoContext } from "./errno.js";
import { ProtocolError } from "./frames.js";
import { parseMessage } from "./messages.js";

/** Longer than any record: of a path, in JSON. */
const maxLine = 64 * 1024;

/**
 * The changes that an agent tells of, from the first `next()` on.
 * @param open Asks the agent for them.
 */
export async function* watchFiles(
  open: () => Promise<ReadableStream<Uint8Array>>,
  about: ErrnoContext,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileChange> {
  signal?.throwIfAborted();
  const reader = (await open()).pipeThrough(new TextDecoderStream()).getReader();
  // Cancelled, a read that waits resolves with the end.
  const stop = () => {
    reader.cancel(signal?.reason).catch(() => undefined);
  };
  signal?.addEventListener("abort", stop, { once: true });
  // Who left while it began is not told again.
  if (signal?.aborted) stop();
  try {
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > maxLine) throw new ProtocolError("the agent told a change without an end");
      for (const line of lines) {
        yield changeOf(line, about);
        signal?.throwIfAborted();
      }
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await reader.cancel().catch(() => undefined);
  }
}

function changeOf(line: string, about: ErrnoContext): FileChange {
  const record = parseMessage("changed", line);
  if (!("error" in record)) return record;
  if (record.error.errno !== "EOVERFLOW") throw refusal(record.error, about);
  const message = `${about.operation} ${about.subject}: more changes came than were taken, and some are lost: list the files, and watch again, fewer of them`;
  throw new SandboxError("TOO_LARGE", message, { provider: about.provider, operation: about.operation });
}
