import { SandboxError } from "@sandkit/core";
import type { BulkFiles } from "@sandkit/core/kit";
import type { Sandbox } from "e2b";
import { believe } from "./believe.js";
import type { E2BClient } from "./client.js";
import { type CallContext, e2bError, providerName } from "./errors.js";
import { tokenOf } from "./ports.js";

/** Below this the agent is as fast, and its writes are exact about modes and times. */
const fromBytes = 1024 * 1024;
/** How long the network may stand still, in milliseconds; the user's own stream may take as long as it likes. */
const stillMs = 60_000;
/** An address is used at once. */
const signedSeconds = 60;

/** Whole files by envd's own interface, as streams. */
export function bulkFiles(client: E2BClient, user: string, sandbox: () => Sandbox): BulkFiles {
  const failure = async (reason: unknown, operation: string, path: string) => {
    const { sandboxId } = sandbox();
    const context: CallContext = { operation, subject: JSON.stringify(path), sandboxId };
    return believe(client, sandboxId, e2bError(reason, context));
  };
  return {
    fromBytes,
    async read(path, signal) {
      try {
        const stream = await download(sandbox(), path, user, signal);
        return withErrors(stream, (reason) => (signal?.aborted ? signal.reason : failure(reason, "files.read", path)));
      } catch (reason) {
        signal?.throwIfAborted();
        throw await failure(reason, "files.read", path);
      }
    },
    async write(path, data, signal) {
      const watch = new Watch(data, signal);
      try {
        await sandbox().files.write(path, watch.data, { user, useOctetStream: true, signal: watch.signal });
      } catch (reason) {
        signal?.throwIfAborted();
        throw await failure(reason, "files.write", path);
      } finally {
        watch.end();
      }
    },
  };
}

/**
 * A file by the address that the SDK signs. Its own `read` takes what is packed with gzip, as `fetch` asks for by
 * itself, and that stands still for ever in Node 20 when there is much of it that does not pack.
 */
async function download(
  sandbox: Sandbox,
  path: string,
  user: string,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const url = await sandbox.downloadUrl(path, { user, useSignatureExpiration: signedSeconds });
  const still = new AbortController();
  const stop = () => still.abort(new DOMException(`nothing came for ${stillMs / 1000} s`, "TimeoutError"));
  const response = await withClock(stop, () =>
    fetch(url, {
      headers: { "accept-encoding": "identity", ...tokenOf(sandbox) },
      signal: signal ? AbortSignal.any([signal, still.signal]) : still.signal,
    }),
  );
  const reader = response.body?.getReader();
  if (!response.ok || !reader) {
    await reader?.cancel();
    throw Object.assign(new Error(`${response.status} ${response.statusText}`), { statusCode: response.status });
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await withClock(stop, () => reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Only while the network is waited for: whoever reads may take as long as they like. */
async function withClock<T>(stop: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(stop, stillMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** The same bytes; what goes wrong on the way is told in the words of the contract. */
function withErrors(
  stream: ReadableStream<Uint8Array>,
  toError: (reason: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (reason) {
          controller.error(await toError(reason));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** An upload's data, with a clock that runs while the network has it: the SDK sets none for a stream. */
class Watch {
  readonly data: ReadableStream<Uint8Array>;
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout | undefined;
  #over = false;
  readonly #stop = new AbortController();

  constructor(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
    this.signal = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    const reader = source.getReader();
    this.data = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          clearTimeout(this.#timer);
          const { done, value } = await reader.read();
          this.#arm();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    this.#arm();
  }

  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    // What the source gives after the end is of no use any more.
    if (this.#over) return;
    this.#timer = setTimeout(() => {
      const message = `E2B took nothing of the file for ${stillMs / 1000} s: try again`;
      this.#stop.abort(new SandboxError("TIMEOUT", message, { provider: providerName, operation: "files.write" }));
    }, stillMs);
  }
}
