import PQueue from "p-queue";
import type { Budget } from "./budget.js";
import { type PackageCache, sha256Of } from "./cache.js";
import type { Downloaded, Downloader } from "./download.js";
import { DownloadError } from "./download-error.js";
import { downloadFailure, packageError } from "./errors.js";
import type { Pin } from "./pin.js";
import { readWheel } from "./wheel-directory.js";

/** With what one installation fetches. */
export interface FetcherOptions {
  readonly downloader: Downloader;
  readonly cache: PackageCache;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
}

const largestArchive = 256 * 1024 * 1024;
const kibibyte = 1024;
/** Of one installation: the others have their turn between. */
const mostAtOnce = 4;

/** Gets what one installation needs, each thing once, and makes sure that archives are what was promised. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #queue = new PQueue({ concurrency: mostAtOnce });
  readonly #taken = new Map<string, Promise<Buffer>>();

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** @throws SandboxError naming the package: `UNAVAILABLE`, `TRANSPORT` for a wrong hash */
  bytesOf(pin: Pin): Promise<Buffer> {
    const key = pin.origin.from === "web" ? pin.origin.url : pin.origin.path;
    const taken = this.#taken.get(key) ?? this.#take(pin);
    this.#taken.set(key, taken);
    return taken;
  }

  /** @throws DownloadError, OverBudget, or the signal's reason */
  get(url: URL, maxBytes: number, accept?: string): Promise<Downloaded> {
    const { downloader, budget, signal } = this.#options;
    return this.#queue.add(() => downloader.get(url, { maxBytes, accept, budget, signal }), { signal });
  }

  /** As {@link get}, for one package. @throws SandboxError `UNAVAILABLE` naming it, OverBudget */
  async getFor(name: string, url: URL, maxBytes: number): Promise<Buffer> {
    try {
      return (await this.get(url, maxBytes)).bytes;
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      throw downloadFailure(name, error);
    }
  }

  async #take(pin: Pin): Promise<Buffer> {
    const { cache, onProgress } = this.#options;
    const { name, filename, sha256, origin } = pin;
    if (origin.from === "directory") return this.#counted(await readWheel(origin.path));
    if (!sha256) throw packageError("TRANSPORT", name, `${filename} is refused: the index gives no sha256 for it`);
    const kept = await cache.wheel(sha256);
    if (kept) return this.#counted(kept);
    onProgress(`downloading ${filename}`);
    const bytes = await this.getFor(name, new URL(origin.url), largestArchive);
    const actual = sha256Of(bytes);
    if (actual !== sha256) {
      const size = `${Math.ceil(bytes.length / kibibyte)} KiB`;
      const reason = `${filename} (${size}) is refused: its sha256 is ${actual} and should be ${sha256}`;
      throw packageError("TRANSPORT", name, reason);
    }
    await cache.keepWheel(sha256, bytes);
    return bytes;
  }

  #counted(bytes: Buffer): Buffer {
    this.#options.budget.countBytes(bytes.length);
    return bytes;
  }
}
