import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "@sandkit/core/kit";
import { type Artifacts, findArtifacts } from "./artifacts.js";
import { usualConcurrentExec } from "./capabilities.js";
import { SandboxChild, type StartOptions } from "./child-process.js";
import { buildCodeCache } from "./code-cache/builder.js";
import { codeCacheName } from "./code-cache/code-cache.js";
import { lostError, refusal } from "./errors.js";
import type { WasmOptions } from "./options.js";
import { codeCacheDirectory } from "./own-directory.js";
import type { PreparedArchive } from "./packages/wheel-layout.js";
import type { ChildOptions, SandboxSettings } from "./protocol.js";

/** What is fixed when a child starts, and so tells one kind of pooled child from another. */
type Birth = Pick<ChildOptions, "memoryMiB"> & Pick<SandboxSettings, "diskMiB"> & Packed;

/** Packages that are there from the beginning. */
interface Packed {
  readonly packages: readonly PreparedArchive[];
}

/** What a sandbox needs of its child. */
interface ChildRequest extends Birth, SandboxSettings {
  readonly sandboxId: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** The children of one provider: started when they are asked for, or ahead of time. */
export class Children {
  readonly #options: WasmOptions;
  readonly #usual: Birth;
  readonly #pool: Pool<Birth, SandboxChild> | undefined;

  /** @param usual What those are like that ask for nothing else, and that the pool holds before any were asked for. */
  constructor(options: WasmOptions, usual: Birth) {
    this.#options = options;
    this.#usual = usual;
    if (!options.pool) return;
    this.#pool = new Pool({
      size: options.pool.size,
      keyOf: ({ memoryMiB, diskMiB, packages }) =>
        [memoryMiB, diskMiB, ...packages.map(({ sha256 }) => sha256)].join("/"),
      make: (birth, signal) => this.#start(birth, signal, true),
      gone: (child) => child.exited,
      dispose: (child) => child.destroy(),
    });
    this.#pool.keep(usual);
  }

  /** A child that nobody has used: from the pool, or a new one. */
  async take(request: ChildRequest): Promise<SandboxChild> {
    const { sandboxId, memoryMiB, diskMiB, packages, workdir, signal, onProgress } = request;
    const settings = { diskMiB, workdir };
    // The quota is set at the claim; at birth only what it can be at most counts.
    const birth = { memoryMiB, diskMiB: Math.max(diskMiB, this.#usual.diskMiB), packages };
    for (;;) {
      const pooled = await this.#pool?.claim(birth, signal);
      if (!pooled) break;
      if (await pooled.claim(sandboxId, settings)) return pooled;
    }
    onProgress?.("starting the sandbox's process");
    const child = await this.#start(birth, signal);
    if (await child.claim(sandboxId, settings)) return child;
    throw lostError(child.lost ?? "its process does not answer", { operation: "create", sandboxId });
  }

  /** Ends the children that nobody has taken. */
  async close(): Promise<void> {
    await this.#pool?.drain();
  }

  async #start(birth: Birth, signal: AbortSignal | undefined, background = false): Promise<SandboxChild> {
    const child = await this.#startEmpty(birth, signal, background);
    try {
      await child.install(birth.packages);
      signal?.throwIfAborted();
      return child;
    } catch (error) {
      await child.destroy();
      throw error;
    }
  }

  async #startEmpty(
    { memoryMiB, diskMiB }: Birth,
    signal: AbortSignal | undefined,
    background: boolean,
  ): Promise<SandboxChild> {
    const start = { signal, background, hardening: this.#options.hardening ?? "auto" };
    const artifacts = findArtifacts();
    const options: ChildOptions = {
      pyodide: artifacts.pyodide,
      quickjs: artifacts.quickjs,
      artifacts: artifacts.directory,
      memoryMiB,
      diskMiB,
      maxWorkers: this.#options.maxConcurrentExec ?? usualConcurrentExec,
      maxCpuMs: this.#options.maxCpuMs,
      warmWorkers: this.#options.warmWorkers ?? 1,
      warmFirst: background,
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
