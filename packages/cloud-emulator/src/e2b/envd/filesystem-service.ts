import { type Files, SandboxError } from "@sandkit/core";
import type { E2BSandbox } from "../sandbox.js";
import { ConnectFailure } from "./connect-failure.js";
import type { ConnectCall } from "./connect-protocol.js";
import { entryInfo, lookUp } from "./entry-info.js";
import type { EntryInfo, ListDirRequest, MoveRequest, PathRequest } from "./filesystem-messages.js";
import { userOf } from "./users.js";

/** `filesystem.Filesystem` of one sandbox, but for its watchers. */
export class FilesystemService {
  readonly #sandbox: E2BSandbox;

  constructor(sandbox: E2BSandbox) {
    this.#sandbox = sandbox;
  }

  async stat(request: PathRequest, call: ConnectCall): Promise<unknown> {
    return { entry: await this.#entry(this.#path(request.path, call)) };
  }

  async makeDir(request: PathRequest, call: ConnectCall): Promise<unknown> {
    const path = this.#path(request.path, call);
    const there = await this.#find(path);
    if (there?.type === "FILE_TYPE_DIRECTORY") {
      throw new ConnectFailure("already_exists", `directory already exists: ${path}`);
    }
    if (there) throw new ConnectFailure("invalid_argument", `path already exists but it is not a directory: ${path}`);
    await this.#files.mkdir(path);
    return { entry: await this.#entry(path) };
  }

  async move(request: MoveRequest, call: ConnectCall): Promise<unknown> {
    const source = this.#path(request.source, call);
    const destination = this.#path(request.destination, call);
    await this.#files.move(source, destination).catch((error) => {
      if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") {
        throw new ConnectFailure("not_found", `source file not found: ${source}`, error);
      }
      throw error;
    });
    return { entry: await this.#entry(destination) };
  }

  async listDir(request: ListDirRequest, call: ConnectCall): Promise<unknown> {
    const path = this.#path(request.path, call);
    const depth = request.depth || 1;
    if ((await this.#entry(path)).type !== "FILE_TYPE_DIRECTORY") {
      throw new ConnectFailure("invalid_argument", `path is not a directory: ${path}`);
    }
    const found = await this.#files.list(path, depth > 1 ? { recursive: true, maxDepth: depth } : {});
    return { entries: await Promise.all(found.map((info) => entryInfo(this.#files, info))) };
  }

  /** What is not there is removed already. */
  async remove(request: PathRequest, call: ConnectCall): Promise<unknown> {
    await this.#files.remove(this.#path(request.path, call), { recursive: true });
    return {};
  }

  get #files(): Files {
    return this.#sandbox.box.files;
  }

  #path(path: string | undefined, call: ConnectCall): string {
    userOf(call.header("authorization"));
    return this.#sandbox.resolve(path ?? "");
  }

  async #entry(path: string): Promise<EntryInfo> {
    const found = await this.#find(path);
    if (found) return found;
    throw new ConnectFailure("not_found", `file not found: ${path}`);
  }

  async #find(path: string): Promise<EntryInfo | undefined> {
    const info = await lookUp(this.#files, path);
    return info && entryInfo(this.#files, info);
  }
}
