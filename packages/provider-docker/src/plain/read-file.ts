import { deferred, type ReadOptions } from "@sandkit/core";
import { splitStreams } from "../engine/split-streams.js";
import { type ExecPlace, lostSandbox, startInContainer } from "./engine-exec.js";
import { fileError } from "./file-errors.js";
import { guestSource } from "./guest-source.js";
import { OutputPipe } from "./output-pipe.js";

/** What comes before the content. */
const agreement = Buffer.from("ok\n");

/** The bytes of a file, pulled from a program inside that reads it. */
export async function readFile(
  place: ExecPlace,
  path: string,
  { offset = 0, length, signal }: ReadOptions,
): Promise<ReadableStream<Uint8Array>> {
  signal?.throwIfAborted();
  const command = ["sh", "-c", await guestSource("files"), "sh", "read_file", path, `${offset}`, `${length ?? ""}`];
  const { streams, closed } = await startInContainer(place, command, { env: [], stdin: false });
  const verdict = deferred<string>();
  let said = "";
  let header = Buffer.alloc(0);
  let over = false;
  const pipe = new OutputPipe(() => {
    if (pipe.cancelled) streams.destroy();
    else streams.resume();
  });
  const stop = () => {
    if (over) return;
    over = true;
    pipe.fail(signal?.reason);
    verdict.reject(signal?.reason);
    streams.destroy();
  };
  signal?.addEventListener("abort", stop, { once: true });
  splitStreams(streams, {
    stdout: (bytes) => {
      const rest = agreement.length - header.length;
      if (rest > 0) header = Buffer.concat([header, bytes.subarray(0, rest)]);
      if (header.equals(agreement)) verdict.resolve("ok");
      if (bytes.length > rest) pipe.push(bytes.subarray(rest));
    },
    stderr: (bytes) => {
      said += Buffer.from(bytes).toString("utf8");
      if (said.includes("\n")) verdict.resolve(said.split("\n")[0] ?? "");
    },
    wanted: () => pipe.wanted,
  });
  closed.then(async () => {
    signal?.removeEventListener("abort", stop);
    verdict.reject(lostSandbox(place.sandboxId));
    if (over) return;
    over = true;
    // A container that was killed closes the streams as well: what came then is not the whole file.
    const state = (await place.engine.inspect(place.container).catch(() => undefined))?.State;
    if (state?.Running) pipe.end();
    else pipe.fail(lostSandbox(place.sandboxId));
  });
  const word = await verdict.promise;
  if (word !== "ok") throw fileError(word.replace(/^fail /, ""), "files.read", path, place.sandboxId);
  return pipe.stream;
}
