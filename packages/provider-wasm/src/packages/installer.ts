import { findArtifacts, pyodideVersion } from "../artifacts.js";
import { refusal } from "../errors.js";
import { packageCacheDirectory } from "../own-directory.js";
import { PackageCache, sha256Of } from "./cache.js";
import type { Pin, Source } from "./candidate.js";
import { Downloader } from "./download.js";
import { isUnreachable } from "./errors.js";
import { Fetcher } from "./fetcher.js";
import { wasmEnvironment } from "./marker.js";
import type { PackagesOptions } from "./options.js";
import { parseRequirements } from "./parse-requirements.js";
import type { PresentPackage } from "./present-package.js";
import { type PyodideLock, readLock } from "./pyodide-lock.js";
import type { Requirement } from "./requirement.js";
import { resolve } from "./resolve.js";
import { withSlash } from "./simple-index.js";
import { directorySource, indexSource, lockSource, readable } from "./sources.js";
import { stampOf } from "./wheel-directory.js";
import { type PreparedArchive, placeFiles } from "./wheel-layout.js";

/** Where Pyodide's makers publish what they have built for a release. */
const publishedAt = `https://cdn.jsdelivr.net/pyodide/v${pyodideVersion}/full/`;
const defaultTimeoutMs = 60_000;
/** How long a choice stands before the index is asked again. */
const freshMs = 10 * 60_000;

/** What is asked for, and how. */
export interface InstallRequest {
  readonly requirements: readonly string[];
  /** What is in the sandbox, by normalised name; absent: the sandbox is new, and the choice is noted for the next. */
  readonly installed?: ReadonlyMap<string, PresentPackage> | undefined;
  /** Size of the sandbox's disk: nothing larger can be installed, and little more is fetched; default 256. */
  readonly diskMiB?: number | undefined;
  /** True: what is asked for by name is chosen anew, also where the one that is there would do. */
  readonly upgrade?: boolean | undefined;
  /** False: nothing but the local directory is looked at. */
  readonly network: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** Gets packages for sandboxes. It alone has the network; what it gives is verified, and bytes. */
export class PackageInstaller {
  readonly #options: PackagesOptions;
  readonly #indexUrl: URL | undefined;
  readonly #baseUrl: URL;
  readonly #downloader: Downloader;

  /** @param environment In which `PIP_INDEX_URL` may name the index. */
  constructor(options: PackagesOptions = {}, environment: NodeJS.ProcessEnv = process.env) {
    this.#options = options;
    const index = options.indexUrl ?? environment.PIP_INDEX_URL;
    this.#indexUrl = index !== undefined && URL.canParse(index) ? withSlash(new URL(index)) : undefined;
    this.#baseUrl = withSlash(new URL(options.packageBaseUrl ?? publishedAt));
    const configured = [this.#baseUrl, ...(this.#indexUrl ? [this.#indexUrl] : [])];
    this.#downloader = new Downloader(configured, options.timeoutMs ?? defaultTimeoutMs);
  }

  /** What Pyodide's makers know of packages. */
  get lock(): PyodideLock {
    return readLock(findArtifacts().pyodide);
  }

  /**
   * Chooses, fetches and verifies; everything is looked at before anything is installed.
   * @throws SandboxError naming the package and the reason
   */
  async prepare(request: InstallRequest): Promise<PreparedArchive[]> {
    // What was begun ahead of need ends with the rest.
    const over = new AbortController();
    const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
    try {
      return await this.#prepare({ ...request, signal });
    } finally {
      over.abort(new Error("the installation is over"));
    }
  }

  async #prepare(request: InstallRequest): Promise<PreparedArchive[]> {
    const { signal, onProgress = () => undefined } = request;
    const requirements = parseRequirements(request.requirements);
    if (requirements.length === 0) return [];
    const fetcher = new Fetcher(this.#downloader, this.#cache(), signal, onProgress);
    onProgress(`finding ${requirements.map(({ name }) => name).join(", ")}`);
    const pins = await this.#choose(requirements, request, fetcher);
    const archives = await Promise.all(pins.map((pin) => prepareArchive(pin, fetcher)));
    signal?.throwIfAborted();
    return archives;
  }

  /** The same as before while that is fresh; also later, when the index cannot be reached. */
  async #choose(requirements: Requirement[], request: InstallRequest, fetcher: Fetcher): Promise<Pin[]> {
    const cache = this.#cache();
    const key = await this.#key(request);
    const note = request.network ? await cache.note(key) : undefined;
    const before = note && (JSON.parse(note.text) as Pin[]);
    if (before && note.ageMs < freshMs) return before;
    try {
      const pins = await resolve(requirements, {
        sources: this.#sources(request, fetcher),
        target: this.lock.target,
        environment: wasmEnvironment(this.lock.target.python),
        installed: staying(requirements, request),
        notAsked: this.#notAsked(request.network),
      });
      if (request.network) await cache.keepNote(key, JSON.stringify(pins));
      return pins;
    } catch (error) {
      if (!before || !isUnreachable(error)) throw error;
      request.onProgress?.("the index cannot be reached: taking the versions of the last time");
      return before;
    }
  }

  #sources({ network, signal }: InstallRequest, fetcher: Fetcher): Source[] {
    const { wheelDir } = this.#options;
    const { target } = this.lock;
    const local = wheelDir === undefined ? [] : [directorySource(wheelDir, target, fetcher)];
    if (!network) return local;
    const index = this.#indexUrl && indexSource(this.#indexUrl, target, this.#downloader, fetcher, signal);
    const [compiled, pure] = [true, false].map((kind) => lockSource(this.lock, this.#baseUrl, kind));
    return [...local, compiled, index, pure].filter((source) => source !== undefined);
  }

  #notAsked(network: boolean): string | undefined {
    if (!network) return 'the sandbox was created without network: "packages"';
    return this.#indexUrl ? undefined : "no index is configured: give indexUrl, or set PIP_INDEX_URL";
  }

  /** Equal for requests with the same answer. */
  async #key({ requirements, installed, upgrade }: InstallRequest): Promise<string> {
    const { wheelDir } = this.#options;
    const local = wheelDir === undefined ? undefined : [wheelDir, await stampOf(wheelDir)];
    const places = [this.#indexUrl?.href, this.#baseUrl.href, local, pyodideVersion];
    const present = [...(installed ?? [])].map(([name, { version }]) => [name, version]);
    return JSON.stringify([requirements, present, upgrade, places]);
  }

  #cache(): PackageCache {
    const { cacheDir } = this.#options;
    if (cacheDir === false) return new PackageCache(undefined);
    const directory = packageCacheDirectory(cacheDir);
    if ("path" in directory) return new PackageCache(directory.path);
    if (cacheDir === undefined) return new PackageCache(undefined);
    throw refusal("INVALID", `option "packages.cacheDir": ${directory.refused}`, "packages");
  }
}

/** What may stay as it is. */
function staying(requirements: readonly Requirement[], { installed, upgrade }: InstallRequest) {
  const asked = new Set(requirements.map(({ name }) => name));
  return upgrade ? new Map([...(installed ?? [])].filter(([name]) => !asked.has(name))) : installed;
}

async function prepareArchive(pin: Pin, fetcher: Fetcher): Promise<PreparedArchive> {
  const { kind, name, version, filename } = pin;
  const bytes = await fetcher.bytesOf(pin);
  const archive = { kind, name, version, filename, sha256: pin.sha256 ?? sha256Of(bytes), bytes };
  readable(pin, () => placeFiles(archive));
  return archive;
}
