import { setMaxListeners } from "node:events";
import { SandboxError } from "@sandkit/core";
import { findArtifacts, pyodideVersion } from "../artifacts.js";
import { providerName, refusal } from "../errors.js";
import { packageCacheDirectory } from "../own-directory.js";
import { Budget, OverBudget } from "./budget.js";
import { PackageCache, sha256Of } from "./cache.js";
import type { Source } from "./candidate.js";
import { ChoiceNotes } from "./choice-notes.js";
import { Downloader } from "./download.js";
import { isUnreachable } from "./errors.js";
import { Fetcher } from "./fetcher.js";
import { fileAddresses, indexAddress } from "./index-address.js";
import { readInstalled } from "./installed.js";
import { wasmEnvironment } from "./marker.js";
import type { PackagesOptions } from "./options.js";
import { parseRequirements } from "./parse-requirements.js";
import type { Pin } from "./pin.js";
import type { PresentPackage } from "./present-package.js";
import { type PyodideLock, readLock } from "./pyodide-lock.js";
import type { Requirement } from "./requirement.js";
import { resolve } from "./resolve.js";
import { directorySource, indexSource, lockSource, readable } from "./sources.js";
import { withoutCredentials, withSlash } from "./web-address.js";
import { stampOf } from "./wheel-directory.js";
import { type PreparedArchive, placeFiles } from "./wheel-layout.js";

/** Where Pyodide's makers publish what they have built for a release. */
const publishedAt = `https://cdn.jsdelivr.net/pyodide/v${pyodideVersion}/full/`;
const defaultTimeoutMs = 60_000;
const defaultDiskMiB = 256;
/** How long a choice stands before the index is asked again. */
const freshMs = 10 * 60_000;
const mostNamed = 10;

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

/** What serves one installation. */
interface Work {
  readonly request: InstallRequest;
  readonly requirements: readonly Requirement[];
  readonly fetcher: Fetcher;
  readonly cache: PackageCache;
  readonly budget: Budget;
  readonly onNote: (message: string) => void;
}

/** Gets packages for sandboxes. It alone has the network; what it gives is verified, and bytes. */
export class PackageInstaller {
  readonly #options: PackagesOptions;
  readonly #indexUrl: URL | undefined;
  readonly #baseUrl: URL;
  readonly #downloader: Downloader;

  /**
   * @param environment In which `PIP_INDEX_URL` may name the index.
   * @throws SandboxError `INVALID` where it names none
   */
  constructor(options: PackagesOptions = {}, environment: NodeJS.ProcessEnv = process.env) {
    this.#options = options;
    const index = indexAddress(options, environment);
    const base = withSlash(new URL(options.packageBaseUrl ?? publishedAt));
    const configured = [...(index ? [index] : []), ...fileAddresses(options, index), base];
    this.#downloader = new Downloader(configured, options.timeoutMs ?? defaultTimeoutMs);
    this.#indexUrl = index && withoutCredentials(index);
    this.#baseUrl = withoutCredentials(base);
  }

  /** What Pyodide's makers know of packages. */
  get lock(): PyodideLock {
    return readLock(findArtifacts().pyodide);
  }

  /**
   * Chooses, fetches and verifies; everything is looked at before anything is installed.
   * @throws SandboxError naming the package and the reason; `TOO_LARGE` for an installation that costs too much
   */
  async prepare(request: InstallRequest): Promise<PreparedArchive[]> {
    const requirements = parseRequirements(request.requirements);
    if (requirements.length === 0) return [];
    // What was begun ahead of need ends with the rest.
    const over = new AbortController();
    const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
    // Every request listens to it.
    setMaxListeners(0, signal);
    const names = brief(requirements);
    try {
      signal.throwIfAborted();
      return await this.#prepare(requirements, request, names, signal);
    } catch (error) {
      if (!(error instanceof OverBudget)) throw error;
      const details = { provider: providerName, operation: "packages", cause: error };
      throw new SandboxError("TOO_LARGE", `installing ${names} costs too much: ${error.message}`, details);
    } finally {
      over.abort(new Error("the installation is over"));
    }
  }

  async #prepare(
    requirements: readonly Requirement[],
    request: InstallRequest,
    names: string,
    signal: AbortSignal,
  ): Promise<PreparedArchive[]> {
    const { diskMiB = defaultDiskMiB, onProgress: onNote = () => undefined } = request;
    const budget = new Budget(diskMiB);
    const cache = this.#cache();
    const fetcher = new Fetcher({ downloader: this.#downloader, cache, budget, signal, onProgress: onNote });
    onNote(`finding ${names}`);
    const pins = await this.#choose({ request, requirements, fetcher, cache, budget, onNote });
    const archives = await Promise.all(pins.map((pin) => prepareArchive(pin, fetcher)));
    signal.throwIfAborted();
    return archives;
  }

  /**
   * For a new sandbox the same as before, while that is fresh; also later, when the index cannot be reached. What guests
   * ask for is not noted: they could fill the disk with it.
   */
  async #choose(work: Work): Promise<readonly Pin[]> {
    const { request, cache, onNote } = work;
    if (request.installed !== undefined || !request.network) return this.#resolve(work);
    const notes = new ChoiceNotes(cache);
    const key = await this.#key(request);
    const before = await notes.read(key);
    if (before && before.ageMs < freshMs) return before.pins;
    try {
      const pins = await this.#resolve(work);
      await notes.keep(key, pins);
      return pins;
    } catch (error) {
      if (!before || !isUnreachable(error)) throw error;
      onNote("the index cannot be reached: taking the versions of the last time");
      return before.pins;
    }
  }

  async #resolve({ request, requirements, fetcher, budget, onNote }: Work): Promise<Pin[]> {
    const { installed = new Map(), upgrade, network } = request;
    const asked = new Set(upgrade ? requirements.map(({ name }) => name) : []);
    const { target } = this.lock;
    return resolve(requirements, {
      sources: this.#sources(network, fetcher),
      target,
      environment: wasmEnvironment(target.python),
      budget,
      installed: await readInstalled(installed, asked, budget, onNote),
      notAsked: this.#notAsked(network),
      onNote,
    });
  }

  #sources(network: boolean, fetcher: Fetcher): Source[] {
    const { wheelDir } = this.#options;
    const { target } = this.lock;
    const local = wheelDir === undefined ? [] : [directorySource(wheelDir, target, fetcher)];
    if (!network) return local;
    const index = this.#indexUrl && indexSource(this.#indexUrl, target, fetcher);
    const [compiled, pure] = [true, false].map((kind) => lockSource(this.lock, this.#baseUrl, kind, fetcher));
    return [...local, compiled, index, pure].filter((source) => source !== undefined);
  }

  #notAsked(network: boolean): string | undefined {
    if (!network) return 'the sandbox was created without network: "packages"';
    return this.#indexUrl ? undefined : "no index is asked: option indexUrl is false";
  }

  /** Equal for requests of new sandboxes with the same answer. */
  async #key({ requirements }: InstallRequest): Promise<unknown> {
    const { wheelDir } = this.#options;
    const local = wheelDir === undefined ? undefined : [wheelDir, await stampOf(wheelDir)];
    return [requirements, this.#indexUrl?.href, this.#baseUrl.href, local, pyodideVersion];
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

/** The names of what is asked for, for people. */
function brief(requirements: readonly Requirement[]): string {
  const names = requirements.map(({ name }) => name);
  const rest = names.length - mostNamed;
  return names.slice(0, mostNamed).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

async function prepareArchive(pin: Pin, fetcher: Fetcher): Promise<PreparedArchive> {
  const { kind, name, version, filename } = pin;
  const bytes = await fetcher.bytesOf(pin);
  const archive = { kind, name, version, filename, sha256: pin.sha256 ?? sha256Of(bytes), bytes };
  readable(pin, () => placeFiles(archive));
  return archive;
}
