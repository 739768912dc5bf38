import { deferred } from "../deferred.js";
import type { ReadOptions } from "../provider.js";
import { fileError } from "./file-errors.js";
import { guestSource } from "./guest-source.js";
import { OutputPipe } from "./output-pipe.js";
import type { PlainPlace } from "./plain-place.js";

/** What comes before the content. */
const agreement = Buffer.from("ok\n");
/** What comes on stderr once all of the content is out. */
const wholeWord = "whole\n";

/** The bytes of a file, pulled from a program inside that reads it. */
export async function readFile(
  place: PlainPlace,
  path: string,
  { offset = 0, length, signal }: ReadOptions,
): Promise<ReadableStream<Uint8Array>> {
  signal?.throwIfAborted();
  const command = ["sh", "-c", await guestSource("files"), "sh", "read_file", path, `${offset}`, `${length ?? ""}`];
  const exec = await place.start(command, { env: [], stdin: false });
  const verdict = deferred<string>();
  let said = "";
  let header = Buffer.alloc(0);
  let over = false;
  const pipe = new OutputPipe(() => {
    if (pipe.cancelled) exec.destroy();
    else exec.resume();
  });
  const stop = () => {
    if (over) return;
    over = true;
    pipe.fail(signal?.reason);
    verdict.reject(signal?.reason);
    exec.destroy();
  };
  signal?.addEventListener("abort", stop, { once: true });
  exec.listen({
    stdout: (bytes) => {
      const rest = agreement.length - header.length;
      if (rest > 0) header = Buffer.concat([header, bytes.subarray(0, rest)]);
      if (header.equals(agreement)) verdict.resolve("ok");
      if (bytes.length > rest) pipe.push(bytes.subarray(rest));
    },
    stderr: (bytes) => {
      said += Buffer.from(bytes).toString("utf8");
      if (said.includes("\n") && said !== wholeWord) verdict.resolve(said.split("\n")[0] ?? "");
    },
    wanted: () => pipe.wanted,
  });
  exec.closed.then(async () => {
    signal?.removeEventListener("abort", stop);
    // A box that was lost closes the streams as well: what came then is not the whole file.
    const { complete, failure } = await exec.ending();
    verdict.reject(failure ?? place.lost());
    if (over) return;
    over = true;
    if (!complete) pipe.fail(failure ?? place.lost());
    // What reads the file has stopped before its end.
    else if (!said.endsWith(wholeWord)) pipe.fail(fileError("EIO", "files.read", path, place));
    else pipe.end();
  });
  // Who left while it was started is not told again.
  if (signal?.aborted) stop();
  const word = await verdict.promise;
  if (word !== "ok") throw fileError(word.replace(/^fail /, ""), "files.read", path, place);
  return pipe.stream;
}
