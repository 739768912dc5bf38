import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "@sandkit/core";
import { type Artifacts, findArtifacts } from "./artifacts.js";
import { maxConcurrentExec } from "./capabilities.js";
import { SandboxChild, type StartOptions } from "./child-process.js";
import { buildCodeCache } from "./code-cache/builder.js";
import { codeCacheName } from "./code-cache/code-cache.js";
import { codeCacheDirectory } from "./code-cache/directory.js";
import { lostError, refusal } from "./errors.js";
import type { WasmOptions } from "./options.js";
import type { ChildOptions, SandboxSettings } from "./protocol.js";

/** What is fixed when a child starts, and so tells one kind of pooled child from another. */
type Birth = Pick<ChildOptions, "memoryMiB">;

/** What a sandbox needs of its child. */
interface ChildRequest extends Birth, SandboxSettings {
  readonly sandboxId: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** The children of one provider: started when they are asked for, or ahead of time. */
export class Children {
  readonly #options: WasmOptions;
  readonly #pool: Pool<Birth, SandboxChild> | undefined;

  /** @param firstMemoryMiB Of the children that the pool holds before any were asked for. */
  constructor(options: WasmOptions, firstMemoryMiB: number) {
    this.#options = options;
    if (!options.pool) return;
    this.#pool = new Pool({
      size: options.pool.size,
      keyOf: ({ memoryMiB }) => `${memoryMiB}`,
      make: (birth, signal) => this.#start(birth, { signal, background: true }),
      gone: (child) => child.exited,
      dispose: (child) => child.destroy(),
    });
    this.#pool.keep({ memoryMiB: firstMemoryMiB });
  }

  /** A child that nobody has used: from the pool, or a new one. */
  async take({ sandboxId, memoryMiB, diskMiB, workdir, signal, onProgress }: ChildRequest): Promise<SandboxChild> {
    const settings = { diskMiB, workdir };
    for (;;) {
      const pooled = await this.#pool?.claim({ memoryMiB }, signal);
      if (!pooled) break;
      if (await pooled.claim(sandboxId, settings)) return pooled;
    }
    onProgress?.("starting the sandbox's process");
    const child = await this.#start({ memoryMiB }, { signal });
    if (await child.claim(sandboxId, settings)) return child;
    throw lostError(child.lost ?? "its process does not answer", { operation: "create", sandboxId });
  }

  /** Ends the children that nobody has taken. */
  async close(): Promise<void> {
    await this.#pool?.drain();
  }

  async #start({ memoryMiB }: Birth, start: StartOptions): Promise<SandboxChild> {
    const artifacts = findArtifacts();
    const options: ChildOptions = {
      pyodide: artifacts.pyodide,
      artifacts: artifacts.directory,
      memoryMiB,
      maxWorkers: maxConcurrentExec,
      warmWorkers: this.#options.warmWorkers ?? 1,
      warmFirst: start.background === true,
    };
    const path = this.#codeCache(artifacts, memoryMiB);
    if (path === undefined) return SandboxChild.start(artifacts, options, start);
    const child = await startCached(artifacts, { ...options, codeCache: path }, start);
    if (!child.cached) buildCodeCache(artifacts, memoryMiB, path);
    return child;
  }

  /** @throws SandboxError `INVALID` for a directory that was asked for and cannot be used; `check` tells of others. */
  #codeCache({ directory: artifacts }: Artifacts, memoryMiB: number): string | undefined {
    const { codeCache } = this.#options;
    if (codeCache === false) return undefined;
    const directory = codeCacheDirectory(codeCache);
    if ("path" in directory) return join(directory.path, codeCacheName(artifacts, memoryMiB));
    if (codeCache === undefined) return undefined;
    throw refusal("INVALID", `option "codeCache": ${directory.refused}`, "create");
  }
}

/** Starts with a cache; where that fails, once more without it: what it holds is code, and it may be what failed. */
async function startCached(
  artifacts: Artifacts,
  options: ChildOptions & { readonly codeCache: string },
  start: StartOptions,
): Promise<SandboxChild> {
  const cached = existsSync(options.codeCache);
  try {
    return await SandboxChild.start(artifacts, options, start);
  } catch (error) {
    if (!cached || start.signal?.aborted) throw error;
    rmSync(options.codeCache, { force: true });
    return SandboxChild.start(artifacts, options, start);
  }
}
