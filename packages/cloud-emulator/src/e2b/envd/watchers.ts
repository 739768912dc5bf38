import { posix } from "node:path";
import type { BoxChange, BoxWatch } from "../../box-watch.js";
import { newId } from "../ids.js";
import type { E2BSandbox } from "../sandbox.js";
import { ConnectFailure } from "./connect-failure.js";
import type { ConnectCall, Send } from "./connect-protocol.js";
import { entryInfo, lookUp } from "./entry-info.js";
import type { EntryInfo, WatcherRequest, WatchRequest } from "./filesystem-messages.js";
import { keepaliveMs } from "./keepalive.js";
import { userOf } from "./users.js";

const types = {
  create: "EVENT_TYPE_CREATE",
  write: "EVENT_TYPE_WRITE",
  remove: "EVENT_TYPE_REMOVE",
  rename: "EVENT_TYPE_RENAME",
  chmod: "EVENT_TYPE_CHMOD",
} as const;

interface FilesystemEvent {
  readonly name: string;
  readonly type: (typeof types)[BoxChange["type"]];
  readonly entry?: EntryInfo;
}

/** One that is asked for its events instead of sending them. */
interface PolledWatcher {
  readonly watch: BoxWatch;
  events: FilesystemEvent[];
  failure: unknown;
}

/** The methods of `filesystem.Filesystem` that watch directories. */
export class Watchers {
  readonly #sandbox: E2BSandbox;
  readonly #polled = new Map<string, PolledWatcher>();

  constructor(sandbox: E2BSandbox) {
    this.#sandbox = sandbox;
  }

  async watchDir(request: WatchRequest, call: ConnectCall, send: Send): Promise<void> {
    const { path, watch } = await this.#open(request, call);
    const stop = () => watch.stop().catch(() => undefined);
    call.signal.addEventListener("abort", stop);
    await send({ start: {} });
    const keepalive = setInterval(() => send({ keepalive: {} }), keepaliveMs(call, this.#sandbox.quirks));
    try {
      for await (const change of watch) {
        await send({ filesystem: await this.#event(path, change, request) });
        keepalive.refresh();
      }
      if (call.signal.aborted) throw call.signal.reason;
    } finally {
      clearInterval(keepalive);
      call.signal.removeEventListener("abort", stop);
      await stop();
    }
  }

  async create(request: WatchRequest, call: ConnectCall): Promise<unknown> {
    const { path, watch } = await this.#open(request, call);
    const watcherId = `w${newId()}`;
    const watcher: PolledWatcher = { watch, events: [], failure: undefined };
    this.#polled.set(watcherId, watcher);
    const collect = async () => {
      for await (const change of watch) watcher.events.push(await this.#event(path, change, request));
    };
    collect().catch((error) => {
      watcher.failure = error;
    });
    return { watcherId };
  }

  async events(request: WatcherRequest): Promise<unknown> {
    const watcher = this.#find(request);
    if (watcher.failure) throw watcher.failure;
    const { events } = watcher;
    watcher.events = [];
    return { events };
  }

  async remove(request: WatcherRequest): Promise<unknown> {
    const watcher = this.#find(request);
    this.#polled.delete(request.watcherId ?? "");
    await watcher.watch.stop();
    return {};
  }

  #find({ watcherId = "" }: WatcherRequest): PolledWatcher {
    const watcher = this.#polled.get(watcherId);
    if (watcher) return watcher;
    throw new ConnectFailure("not_found", `watcher with id ${watcherId} not found`);
  }

  async #open(request: WatchRequest, call: ConnectCall): Promise<{ path: string; watch: BoxWatch }> {
    userOf(call.header("authorization"));
    const path = this.#sandbox.resolve(request.path ?? "");
    const { box } = this.#sandbox;
    const found = await lookUp(box.files, path);
    if (!found) throw new ConnectFailure("not_found", `path ${path} not found`);
    const { type } = await entryInfo(box.files, found);
    if (type !== "FILE_TYPE_DIRECTORY") throw new ConnectFailure("invalid_argument", `path ${path} not a directory`);
    return { path, watch: await box.watch(path, request.recursive ?? false) };
  }

  async #event(path: string, change: BoxChange, { includeEntry = false }: WatchRequest): Promise<FilesystemEvent> {
    const event = { name: change.name, type: types[change.type] };
    if (!includeEntry) return event;
    const { files } = this.#sandbox.box;
    const found = await lookUp(files, posix.join(path, change.name));
    return found ? { ...event, entry: await entryInfo(files, found) } : event;
  }
}
