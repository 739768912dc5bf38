import { randomUUID } from "node:crypto";
import { SandboxError } from "../errors.js";
import type { WriteOptions } from "../provider.js";
import { fileError } from "./file-errors.js";
import { guestTime } from "./file-records.js";
import { runGuest } from "./guest-run.js";
import { guestSource } from "./guest-source.js";
import type { PlainPlace } from "./plain-place.js";

/** Content up to here goes over in one step, with its length known before. */
const smallBytes = 1024 * 1024;

/**
 * Writes a whole file through a program inside. End of input looks the same for content that is complete and for a
 * caller that broke off, so the program is told the length, and puts in place only what has it.
 */
export async function writeFile(
  place: PlainPlace,
  path: string,
  data: ReadableStream<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  const reader = data.getReader();
  const stop = () => reader.cancel(options.signal?.reason).catch(() => undefined);
  options.signal?.addEventListener("abort", stop, { once: true });
  try {
    const beginning: Uint8Array[] = [];
    let size = 0;
    while (size <= smallBytes) {
      const { done, value } = await next(reader, options.signal);
      if (done) {
        await writeSmall(place, path, Buffer.concat(beginning), options);
        return;
      }
      beginning.push(value);
      size += value.byteLength;
    }
    await writeLarge(place, path, beginning, reader, options);
  } catch (error) {
    // A source that cannot be told to stop changes nothing about why the write failed.
    await reader.cancel(error).catch(() => undefined);
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", stop);
  }
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  const piece = await reader.read();
  signal?.throwIfAborted();
  return piece;
}

/** The arguments that writing and committing share. */
export function argumentsOf(path: string, options: WriteOptions, temporary: string): string[] {
  const { mode, ifModifiedAt, permissions } = options;
  const time = ifModifiedAt ? guestTime(ifModifiedAt) : "";
  return [path, mode, time, permissions === undefined ? "" : permissions.toString(8), temporary];
}

async function writeSmall(place: PlainPlace, path: string, content: Buffer, options: WriteOptions): Promise<void> {
  const args = argumentsOf(path, options, temporaryName());
  const { stderr } = await runGuest(place, "files", ["write_file", ...args, `${content.length}`], content);
  requireOk(stderr, path, place);
}

async function writeLarge(
  place: PlainPlace,
  path: string,
  beginning: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  const temporary = temporaryName();
  const args = argumentsOf(path, options, temporary);
  const command = ["sh", "-c", await guestSource("files"), "sh", "write_file", ...args, ""];
  const exec = await place.start(command, { env: [], stdin: true });
  let said = "";
  exec.listen({
    stdout: () => undefined,
    stderr: (bytes) => {
      said += Buffer.from(bytes).toString("utf8");
    },
    wanted: () => true,
  });
  let size = 0;
  const send = async (bytes: Uint8Array) => {
    size += bytes.byteLength;
    await exec.write(bytes);
  };
  try {
    for (const bytes of beginning) await send(bytes);
    // A program that gave up, for want of space say, has said so and ended.
    while (said === "") {
      const { done, value } = await next(reader, options.signal);
      if (done) break;
      await send(value);
    }
    exec.end();
    await exec.closed;
    if (said === "") throw (await exec.ending()).failure ?? place.lost();
    requireOk(said, path, place);
  } catch (error) {
    exec.destroy();
    // What is left of it is no more than a file that nobody looks for; why the write failed counts more.
    const discard = () => runGuest(place, "files", ["discard_file", path, options.mode, temporary]);
    if (options.mode !== "append") await discard().catch(() => undefined);
    throw error;
  }
  if (options.mode === "append") return;
  const { stderr } = await runGuest(place, "files", ["commit_file", ...args, `${size}`]);
  requireOk(stderr, path, place);
}

export function temporaryName(): string {
  return `.sandkit-${randomUUID()}`;
}

export function requireOk(said: string, path: string, place: PlainPlace): void {
  const word = said.split("\n")[0] ?? "";
  if (word === "ok") return;
  if (word === "fail SHORT") {
    const { provider, sandboxId } = place;
    const message = `files.write ${JSON.stringify(path)}: a part was lost on the way: try again`;
    throw new SandboxError("TRANSPORT", message, { provider, sandboxId, operation: "files.write" });
  }
  throw fileError(word.replace(/^fail /, ""), "files.write", path, place);
}
