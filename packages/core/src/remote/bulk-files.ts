import { SandboxError } from "../errors.js";
import type { FileInfo, ReadOptions, WriteOptions } from "../provider.js";
import type { StagedFile } from "../staged-file.js";
import { firstOf } from "./first-bytes.js";
import { Passage } from "./passage.js";
import type { BulkFiles } from "./remote-box.js";
import type { RemoteGuest } from "./remote-guest.js";

/** So much of a file is asked of the agent before it is known how long it is. */
const headBytes = 32 * 1024;
/** Pieces of a write that come later than this after one another come slowly: a shorter way gains them nothing. */
const soonMs = 100;
const touchMs = 500;

/** The session of the agent, as far as it is needed here. What the agent does not see of a file is use of the box too. */
export type AgentBox = Pick<RemoteGuest, "files" | "stage" | "touch" | "ref">;

/**
 * Reads a large file whole by the vendor's way. The agent opens it too and has the say: what the programs of the box
 * cannot read is not read for them by another. What is short has come from the agent by the time that its length is
 * known.
 */
export async function readBulk(
  box: AgentBox,
  bulk: BulkFiles,
  path: string,
  options: ReadOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  const { files } = box;
  if (options.offset || options.length !== undefined) return files.read(path, options);
  // In this order: the one answer is not to wait behind the bytes of the other.
  const looking = files.stat(path, { followSymlinks: true });
  looking.catch(() => undefined);
  const opening = files.read(path, { ...options, length: headBytes });
  const isLarge = looking.then(({ type, size }) => type === "file" && size >= bulk.fromBytes);
  const downloading = isLarge.then((large) => (large ? bulk.read(path, options.signal) : undefined));
  downloading.catch(() => undefined);
  let head: ReadableStream<Uint8Array> | undefined;
  try {
    head = await opening;
    if (await isLarge) {
      giveUp(head);
      const stream = await downloading.catch(() => undefined);
      options.signal?.throwIfAborted();
      // The vendor's way is a shorter one only: the agent's leads there too.
      return stream ? expecting(stream, await looking, box) : await files.read(path, options);
    }
  } catch (error) {
    if (head) giveUp(head, error);
    downloading.then((stream) => stream?.cancel(error)).catch(() => undefined);
    throw error;
  }
  // What was opened is read as it was then, though another may have come in its place.
  const { size, whole } = await firstOf(head, headBytes, { signal: options.signal });
  if (size < headBytes) return whole;
  giveUp(whole);
  return files.read(path, options);
}

/** What nobody will read; whether that can be told changes nothing. */
function giveUp(stream: ReadableStream<Uint8Array>, reason?: unknown): void {
  stream.cancel(reason).catch(() => undefined);
}

/** Fails where the vendor's stream ends before the file does. */
function expecting(
  stream: ReadableStream<Uint8Array>,
  { path, size }: FileInfo,
  box: AgentBox,
): ReadableStream<Uint8Array> {
  const end = (count: number) => {
    if (count >= size) return;
    throw cutOff("files.read", `${JSON.stringify(path)} after ${count} of ${size} bytes`, box.ref.provider);
  };
  return new Passage(stream, { piece: touching(box), end }).stream;
}

/** Tells the agent now and then that the box is in use. */
function touching(box: AgentBox): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last < touchMs) return;
    last = now;
    box.touch();
  };
}

/**
 * Writes large files beside their place by the vendor's way, and has the agent put them there: nobody sees half of one.
 * What is appended is written in place, by the agent alone.
 */
export async function writeBulk(
  box: AgentBox,
  bulk: BulkFiles,
  path: string,
  data: ReadableStream<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  if (options.mode === "append") return box.files.write(path, data, options);
  const { signal } = options;
  const { size, whole } = await firstOf(data, bulk.fromBytes, { withinMs: soonMs, signal });
  if (size < bulk.fromBytes) return box.files.write(path, whole, options);
  const source = new Passage(whole, { piece: touching(box) });
  let staged: StagedFile | undefined;
  try {
    staged = await box.stage(path, options);
    if (!staged) return await box.files.write(path, source.stream, options);
    await bulk.write(staged.path, source.stream, signal);
    signal?.throwIfAborted();
    await staged.commit(source.size);
  } catch (error) {
    await source.abandon(error);
    // What is left of it is no more than a file that nobody looks for.
    await staged?.discard().catch(() => undefined);
    signal?.throwIfAborted();
    throw source.failure ? source.failure.reason : error;
  }
}

function cutOff(operation: string, subject: string, provider: string): SandboxError {
  return new SandboxError("TRANSPORT", `${operation} ${subject}: it was cut off: try again`, { provider, operation });
}
