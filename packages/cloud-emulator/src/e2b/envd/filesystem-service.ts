import { SandboxError } from "@sandkit/core";
import type { E2BSandbox } from "../sandbox.js";
import { ConnectFailure } from "./connect-failure.js";
import type { ConnectCall } from "./connect-protocol.js";
import { entryInfo } from "./entry-info.js";
import type { EntryInfo, ListDirRequest, MoveRequest, PathRequest } from "./filesystem-messages.js";
import { userOf } from "./users.js";

/** `filesystem.Filesystem` of one sandbox. */
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
    const there = await this.#lookUp(path);
    if (there?.type === "FILE_TYPE_DIRECTORY")
      throw new ConnectFailure("already_exists", `directory already exists: ${path}`);
    if (there) throw new ConnectFailure("invalid_argument", `path already exists but it is not a directory: ${path}`);
    await this.#sandbox.box.files.mkdir(path);
    return { entry: await this.#entry(path) };
  }

  async move(request: MoveRequest, call: ConnectCall): Promise<unknown> {
    const source = this.#path(request.source, call);
    const destination = this.#path(request.destination, call);
    await this.#sandbox.box.files.move(source, destination).catch((error) => {
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
    const { type } = await this.#entry(path);
    if (type === "FILE_TYPE_FILE") throw new ConnectFailure("invalid_argument", `path is not a directory: ${path}`);
    const options = depth > 1 ? { recursive: true, maxDepth: depth } : {};
    const found = await this.#sandbox.box.files.list(path, options);
    return { entries: found.map(entryInfo) };
  }

  async remove(request: PathRequest, call: ConnectCall): Promise<unknown> {
    await this.#sandbox.box.files.remove(this.#path(request.path, call), { recursive: true });
    return {};
  }

  #path(path: string | undefined, call: ConnectCall): string {
    userOf(call.header("authorization"));
    return this.#sandbox.resolve(path ?? "");
  }

  async #entry(path: string): Promise<EntryInfo> {
    const found = await this.#lookUp(path);
    if (found) return found;
    throw new ConnectFailure("not_found", `file not found: ${path}`);
  }

  async #lookUp(path: string): Promise<EntryInfo | undefined> {
    try {
      return entryInfo(await this.#sandbox.box.files.stat(path, { followSymlinks: false }));
    } catch (error) {
      if (error instanceof SandboxError && (error.code === "FILE_NOT_FOUND" || error.code === "NOT_DIRECTORY")) {
        return undefined;
      }
      throw error;
    }
  }
}
