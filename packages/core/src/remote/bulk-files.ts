import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import { SandboxError } from "../errors.js";
import type { FileInfo, ProviderFiles, ProviderSession, ReadOptions, WriteOptions } from "../provider.js";
import { firstOf } from "./first-bytes.js";
import { Passage } from "./passage.js";
import type { BulkFiles } from "./remote-box.js";

/** So much of a file is asked of the agent before it is known how long it is. */
const headBytes = 32 * 1024;
/** Pieces of a write that come later than this after one another come slowly: a shorter way gains them nothing. */
const soonMs = 100;
const touchMs = 500;
const newFile = 0o644;

/** The session of the agent, as far as it is needed here. */
export type AgentBox = Pick<ProviderSession, "files" | "spawn" | "ref"> & {
  /** What the agent does not see of a file is use of the box too. */
  touch(): void;
};

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
 * What needs more than a rename (`append`, `exclusive`, `ifModifiedAt`, a link in its place) is the agent's alone.
 */
export async function writeBulk(
  box: AgentBox,
  bulk: BulkFiles,
  path: string,
  data: ReadableStream<Uint8Array>,
  options: WriteOptions,
): Promise<void> {
  if (options.mode !== "truncate" || options.ifModifiedAt) return box.files.write(path, data, options);
  const { size, whole } = await firstOf(data, bulk.fromBytes, { withinMs: soonMs, signal: options.signal });
  if (size < bulk.fromBytes) return box.files.write(path, whole, options);
  const beside = posix.join(posix.dirname(path), `.sandkit-${randomUUID()}`);
  const source = new Passage(whole, { piece: touching(box) });
  const { signal } = options;
  try {
    const permissions = await prepare(box.files, path, beside, options);
    if (permissions === undefined) return await box.files.write(path, source.stream, options);
    await bulk.write(beside, source.stream, signal);
    signal?.throwIfAborted();
    await place(box, beside, path, source.size, permissions);
  } catch (error) {
    await source.abandon(error);
    // What is left of it is no more than a file that nobody looks for.
    await box.files.remove(beside, { recursive: false }).catch(() => undefined);
    signal?.throwIfAborted();
    throw source.failure ? source.failure.reason : error;
  }
}

/**
 * Makes the file that the vendor fills: by the agent, so that it is the programs' own. Tells its permissions; undefined
 * where something else than a file is to be replaced, and nothing was made.
 */
async function prepare(
  files: ProviderFiles,
  path: string,
  beside: string,
  { permissions, signal }: WriteOptions,
): Promise<number | undefined> {
  const making = files.write(beside, emptyStream(), {
    mode: "exclusive",
    permissions: permissions ?? newFile,
    signal,
  });
  const [looked, made] = await Promise.allSettled([found(files, path), making]);
  if (looked.status === "rejected") throw looked.reason;
  if (made.status === "rejected") throw made.reason;
  const old = looked.value;
  if (old && old.type !== "file") {
    await files.remove(beside, { recursive: false });
    return undefined;
  }
  const wanted = permissions ?? old?.mode ?? newFile;
  // Rarely another than a new file's.
  if (wanted !== (permissions ?? newFile)) {
    await files.write(beside, emptyStream(), { mode: "truncate", permissions: wanted, signal });
  }
  return wanted;
}

/** Puts the filled file in its place, if all of it has arrived. */
async function place(box: AgentBox, beside: string, path: string, size: number, permissions: number): Promise<void> {
  const written = await box.files.stat(beside, { followSymlinks: false });
  if (written.size !== size) {
    throw cutOff("files.write", `${JSON.stringify(path)} after ${written.size} of ${size} bytes`, box.ref.provider);
  }
  if (written.mode !== permissions) await changeMode(box, beside, permissions);
  await box.files.move(beside, path);
}

async function changeMode(box: AgentBox, path: string, permissions: number): Promise<void> {
  const process = await box.spawn(["chmod", permissions.toString(8), path], { stdin: false });
  const { exitCode } = await process.exited;
  if (exitCode === 0) return;
  const message = `files.write ${JSON.stringify(path)}: chmod to ${permissions.toString(8)} failed (exit code ${exitCode})`;
  throw new SandboxError("PERMISSION", `${message}: leave out "permissions"`, {
    provider: box.ref.provider,
    operation: "files.write",
  });
}

async function found(files: ProviderFiles, path: string): Promise<FileInfo | undefined> {
  try {
    return await files.stat(path, { followSymlinks: false });
  } catch (error) {
    if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") return undefined;
    throw error;
  }
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
}

function cutOff(operation: string, subject: string, provider: string): SandboxError {
  return new SandboxError("TRANSPORT", `${operation} ${subject}: it was cut off: try again`, { provider, operation });
}
