import type { FileChange, ProviderFiles, WatchOptions } from "../provider.js";
import { type AgentBox, readBulk, writeBulk } from "./bulk-files.js";
import type { RemoteBox } from "./remote-box.js";

/** Does something with the session of the agent, while there is one to be reached; `discard` takes what comes too late. */
export type CallAgent = <Result>(
  operation: string,
  work: (box: AgentBox) => Promise<Result>,
  discard?: (late: Result) => Promise<void>,
) => Promise<Result>;

/** The files of a remote box: through its agent, and large ones by the vendor's own way where there is one. */
export function remoteFiles(call: CallAgent, { bulk }: Pick<RemoteBox, "bulk">, hasWatch: boolean): ProviderFiles {
  return {
    ...(hasWatch && { watch: (path, options) => watchBy(call, path, options) }),
    read: (...args) =>
      call(
        "files.read",
        (box) => (bulk ? readBulk(box, bulk, ...args) : box.files.read(...args)),
        (late) => late.cancel(),
      ),
    write: (...args) => call("files.write", (box) => (bulk ? writeBulk(box, bulk, ...args) : box.files.write(...args))),
    list: (...args) => call("files.list", ({ files }) => files.list(...args)),
    stat: (...args) => call("files.stat", ({ files }) => files.stat(...args)),
    mkdir: (...args) => call("files.mkdir", ({ files }) => files.mkdir(...args)),
    move: (...args) => call("files.move", ({ files }) => files.move(...args)),
    remove: (...args) => call("files.remove", ({ files }) => files.remove(...args)),
    symlink: (...args) =>
      call("files.symlink", async ({ files }) => {
        await files.symlink?.(...args);
      }),
  };
}

/** Each change is waited for as anything else of the agent: who waits while somebody pauses the box is told so. */
async function* watchBy(call: CallAgent, path: string, options: WatchOptions): AsyncGenerator<FileChange> {
  // The agent's own iteration cannot be left while it waits: only stopped.
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const changes = await call("files.watch", async ({ files }) =>
    files.watch?.(path, { ...options, signal })[Symbol.asyncIterator](),
  );
  try {
    while (changes) {
      const { done, value } = await call("files.watch", () => changes.next());
      if (done) return;
      yield value;
    }
  } finally {
    stop.abort();
  }
}
