import { type FileChange, SandboxError, type WatchOptions } from "@sandkit/core";
import type { FilesystemEvent, FilesystemEventType, Sandbox } from "e2b";
import { believe } from "./believe.js";
import { call } from "./call.js";
import type { E2BClient } from "./client.js";
import { e2bError, providerName } from "./errors.js";

/** What is kept of changes that nobody has taken. */
const mostKept = 5_000;

/** What envd calls a change, in the contract's words; of a permission nothing is said there. */
const types: Readonly<Record<`${FilesystemEventType}`, FileChange["type"]>> = {
  create: "created",
  write: "changed",
  chmod: "changed",
  remove: "removed",
  rename: "removed",
};

/** Where is watched: the SDK's object is another one after a resume. */
export interface WatchHost {
  readonly client: E2BClient;
  readonly sandbox: Sandbox;
}

/**
 * Changes at and below a directory, until the iteration stops.
 * @throws SandboxError `TOO_LARGE` when more came than was taken, after what was kept; `UNAVAILABLE` when it is paused
 */
export async function* watchFiles(
  { client, sandbox }: WatchHost,
  path: string,
  { recursive = false, signal }: WatchOptions,
): AsyncGenerator<FileChange> {
  const { sandboxId } = sandbox;
  const about = { operation: "files.watch", subject: JSON.stringify(path), sandboxId };
  const meaning = (error: SandboxError) => believe(client, sandboxId, error);
  const kept = new Kept();
  const handle = await call(
    about,
    ({ requestTimeoutMs }) =>
      sandbox.files.watchDir(
        path,
        ({ type, name }: FilesystemEvent) => {
          const change: FileChange = { type: types[type], path: `${path === "/" ? "" : path}/${name}` };
          if (!kept.add(change)) kept.end(overflow(path, sandboxId));
        },
        { recursive, requestTimeoutMs, timeoutMs: 0, onExit: (error) => kept.end(error) },
      ),
    { signal, believe: meaning },
  );
  const stop = () => kept.end();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const changes = await kept.take();
      signal?.throwIfAborted();
      if (!changes) break;
      yield* changes;
    }
    if (kept.failure !== undefined) throw await meaning(e2bError(kept.failure, about));
  } finally {
    signal?.removeEventListener("abort", stop);
    await handle.stop();
  }
}

/** Changes that have come and were not taken yet. */
class Kept {
  failure: unknown;
  #changes: FileChange[] = [];
  #over = false;
  #wake = () => {};

  /** False when there is no room. */
  add(change: FileChange): boolean {
    if (this.#over) return true;
    if (this.#changes.length >= mostKept) return false;
    this.#changes.push(change);
    this.#wake();
    return true;
  }

  /** Nothing more comes. */
  end(failure?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.failure = failure;
    this.#wake();
  }

  /** All that there is, once there is some; undefined at the end. */
  async take(): Promise<readonly FileChange[] | undefined> {
    while (this.#changes.length === 0) {
      if (this.#over) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#changes.splice(0);
  }
}

function overflow(path: string, sandboxId: string): SandboxError {
  const message = `files.watch ${JSON.stringify(path)}: more than ${mostKept} changes were not taken, and some are lost`;
  return new SandboxError("TOO_LARGE", `${message}: list the files, and watch again, fewer of them`, {
    provider: providerName,
    operation: "files.watch",
    sandboxId,
  });
}
