import { type PackageCache, sha256Of } from "./cache.js";
import type { Pin } from "./candidate.js";
import { DownloadError, type Downloader } from "./download.js";
import { packageError } from "./errors.js";
import { readWheel } from "./wheel-directory.js";

const largestArchive = 256 * 1024 * 1024;
/** Of one installation, also what is only looked at: whoever names packages must not fill this machine. */
const mostBytes = 1024 * 1024 * 1024;
const kibibyte = 1024;

/** Gets the bytes of archives, each once, and makes sure that they are what was promised. */
export class Fetcher {
  readonly #downloader: Downloader;
  readonly #cache: PackageCache;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: (message: string) => void;
  #fetched = 0;
  readonly #taken = new Map<string, Promise<Buffer>>();

  constructor(
    downloader: Downloader,
    cache: PackageCache,
    signal: AbortSignal | undefined,
    onProgress: (message: string) => void,
  ) {
    this.#downloader = downloader;
    this.#cache = cache;
    this.#signal = signal;
    this.#onProgress = onProgress;
  }

  /** @throws SandboxError naming the package: `UNAVAILABLE`, `TRANSPORT` for a wrong hash */
  bytesOf(pin: Pin): Promise<Buffer> {
    const key = pin.origin.from === "web" ? pin.origin.url : pin.origin.path;
    const taken = this.#taken.get(key) ?? this.#take(pin);
    this.#taken.set(key, taken);
    return taken;
  }

  /** Gives the failure of a download the name of the package that it was for. */
  async orNamed<Result>(name: string, download: Promise<Result>): Promise<Result> {
    try {
      return await download;
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      throw packageError("UNAVAILABLE", name, error.message, error);
    }
  }

  async #take(pin: Pin): Promise<Buffer> {
    const { name, filename, sha256, origin } = pin;
    if (origin.from === "directory") return readWheel(origin.path);
    if (!sha256) throw packageError("TRANSPORT", name, `${filename} is refused: the index gives no sha256 for it`);
    const kept = await this.#cache.wheel(sha256);
    if (kept) return kept;
    this.#onProgress(`downloading ${filename}`);
    const download = this.#downloader.get(new URL(origin.url), { maxBytes: largestArchive, signal: this.#signal });
    const { bytes } = await this.orNamed(name, download);
    this.#fetched += bytes.length;
    if (this.#fetched > mostBytes)
      throw packageError("TOO_LARGE", name, `with it, more than ${mostBytes} bytes are fetched`);
    const actual = sha256Of(bytes);
    if (actual !== sha256) {
      const size = `${Math.ceil(bytes.length / kibibyte)} KiB`;
      const reason = `${filename} (${size}) is refused: its sha256 is ${actual} and should be ${sha256}`;
      throw packageError("TRANSPORT", name, reason);
    }
    await this.#cache.keepWheel(sha256, bytes);
    return bytes;
  }
}
