import type { FileChange, WatchOptions } from "@sandkit/core";
import type { FilesystemEvent, FilesystemEventType, Sandbox } from "e2b";
import { call } from "./call.js";
import { e2bError } from "./errors.js";

/** What envd calls a change, in the contract's words; of a permission nothing is said there. */
const types: Readonly<Record<`${FilesystemEventType}`, FileChange["type"]>> = {
  create: "created",
  write: "changed",
  chmod: "changed",
  remove: "removed",
  rename: "removed",
};

/** Changes at and below a directory, until the iteration stops. */
export async function* watchFiles(
  sandbox: Sandbox,
  path: string,
  { recursive = false, signal }: WatchOptions,
): AsyncGenerator<FileChange> {
  const about = { operation: "files.watch", subject: JSON.stringify(path), sandboxId: sandbox.sandboxId };
  const changes: FileChange[] = [];
  let wake = () => {};
  let over = false;
  let failure: unknown;
  const stop = () => {
    over = true;
    wake();
  };
  const handle = await call(about, ({ requestTimeoutMs }) =>
    sandbox.files.watchDir(
      path,
      (event: FilesystemEvent) => {
        changes.push({ type: types[event.type], path: `${path === "/" ? "" : path}/${event.name}` });
        wake();
      },
      {
        recursive,
        requestTimeoutMs,
        timeoutMs: 0,
        onExit: (error) => {
          failure = error;
          stop();
        },
      },
    ),
  );
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      yield* changes.splice(0);
      signal?.throwIfAborted();
      if (over) break;
      // Some may have come while the last ones were looked at.
      if (changes.length > 0) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure) throw e2bError(failure, about);
  } finally {
    signal?.removeEventListener("abort", stop);
    await handle.stop();
  }
}
