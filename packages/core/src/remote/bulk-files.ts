import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import { settlesWithin } from "../deadline.js";
import { SandboxError } from "../errors.js";
import type { FileInfo, ProviderFiles, ProviderSession, ReadOptions, WriteOptions } from "../provider.js";
import type { BulkFiles } from "./remote-box.js";

/** Pieces that come later than this after one another come slowly. */
const soonMs = 100;
const touchMs = 500;

/** The session of the agent, as far as it is needed here. */
export type AgentBox = Pick<ProviderSession, "files" | "spawn" | "ref"> & {
  /** What the agent does not see of a file is use of the box too. */
  touch(): void;
};

/**
 * Reads a large file whole by the vendor's way. The agent is asked at the same time and has the say: what the programs
 * of the box cannot read is not read for them by another.
 */
export async function readBulk(
  box: AgentBox,
  bulk: BulkFiles,
  path: string,
  options: ReadOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  const { files } = box;
  if (options.offset || options.length !== undefined) return files.read(path, options);
  const reading = files.read(path, options);
  const [stream, info] = await Promise.all([reading, files.stat(path, { followSymlinks: true })]);
  if (info.type !== "file" || info.size < bulk.fromBytes) return stream;
  try {
    const whole = await bulk.read(path, options.signal);
    await stream.cancel();
    return whole.pipeThrough(expecting(info, box));
  } catch (error) {
    if (options.signal?.aborted) throw error;
    // The vendor's way is a shorter one only: the agent's leads there too.
    return stream;
  }
}

/** Fails where the vendor's stream ends before the file does. */
function expecting({ path, size }: FileInfo, box: AgentBox): TransformStream<Uint8Array, Uint8Array> {
  let count = 0;
  const touch = touching(box);
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      count += chunk.byteLength;
      touch();
      controller.enqueue(chunk);
    },
    flush() {
      if (count < size)
        throw cutOff("files.read", `${JSON.stringify(path)} after ${count} of ${size} bytes`, box.ref.provider);
    },
  });
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
  const { size, whole } = await begin(data, bulk.fromBytes, options.signal);
  if (size < bulk.fromBytes) return box.files.write(path, whole, options);
  const old = await found(box.files, path);
  if (old && old.type !== "file") return box.files.write(path, whole, options);
  await upload(box, bulk, path, whole, { ...options, permissions: options.permissions ?? old?.mode });
}

async function upload(
  box: AgentBox,
  bulk: BulkFiles,
  path: string,
  data: ReadableStream<Uint8Array>,
  { permissions = 0o644, signal }: WriteOptions,
): Promise<void> {
  const beside = posix.join(posix.dirname(path), `.sandkit-${randomUUID()}`);
  let size = 0;
  const touch = touching(box);
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      touch();
      controller.enqueue(chunk);
    },
  });
  try {
    // The agent makes it, so that it is the programs' own; the vendor fills it.
    await box.files.write(beside, emptyStream(), { mode: "exclusive", permissions, signal });
    await bulk.write(beside, data.pipeThrough(counting), signal);
    signal?.throwIfAborted();
    const written = await box.files.stat(beside, { followSymlinks: false });
    if (written.size !== size) {
      throw cutOff("files.write", `${JSON.stringify(path)} after ${written.size} of ${size} bytes`, box.ref.provider);
    }
    if (written.mode !== permissions) await changeMode(box, beside, permissions);
    await box.files.move(beside, path);
  } catch (error) {
    // What is left of it is no more than a file that nobody looks for.
    await box.files.remove(beside, { recursive: false }).catch(() => undefined);
    if (!data.locked) await data.cancel(error).catch(() => undefined);
    throw signal?.aborted ? signal.reason : error;
  }
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

/**
 * Takes so much of a stream that it is known whether it is large; `whole` still gives all of it. One that comes slowly
 * is not waited for: a shorter way gains it nothing, and nobody has told the agent yet that it is at work.
 */
async function begin(data: ReadableStream<Uint8Array>, enough: number, signal: AbortSignal | undefined) {
  const reader = data.getReader();
  const pieces: Uint8Array[] = [];
  let waiting: ReturnType<typeof reader.read> | undefined;
  let size = 0;
  let ended = false;
  const next = () => {
    waiting ??= reader.read();
    waiting.catch(() => undefined);
    return waiting;
  };
  const onAbort = () => {
    reader.cancel(signal?.reason).catch(() => undefined);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    while (size < enough && !ended && (await settlesWithin(next(), soonMs))) {
      const { done, value } = await next();
      waiting = undefined;
      ended = done;
      if (value) pieces.push(value);
      size += value?.byteLength ?? 0;
    }
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
  const whole = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift();
        if (piece) {
          controller.enqueue(piece);
          return;
        }
        const { done, value } = await next();
        waiting = undefined;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { size, whole };
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
