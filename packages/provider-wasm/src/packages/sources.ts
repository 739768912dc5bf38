import { BadArchive } from "./bad-archive.js";
import { sha256Of } from "./cache.js";
import type { Candidate, Found, Source } from "./candidate.js";
import { packageError } from "./errors.js";
import type { Fetcher } from "./fetcher.js";
import { Pace } from "./pace.js";
import type { Pin } from "./pin.js";
import type { LockedPackage, PyodideLock } from "./pyodide-lock.js";
import { parseRequirement } from "./requirement.js";
import { filesOf, type IndexFile } from "./simple-index.js";
import { parseSpecifiers, satisfies } from "./specifier.js";
import { compareVersions, parseVersion, type Version } from "./version.js";
import { shown } from "./web-address.js";
import { listWheels } from "./wheel-directory.js";
import { parseMetadata, readWheelMetadata } from "./wheel-metadata.js";
import { parseWheelName, type WheelName, type WheelTarget, wheelFit } from "./wheel-name.js";

const largestMetadata = 4 * 1024 * 1024;
const nothing: Found = { candidates: [], known: false, unfit: [] };

/** The wheels of a directory on this machine. */
export function directorySource(directory: string, target: WheelTarget, fetcher: Fetcher): Source {
  return {
    description: `wheelDir ${directory}`,
    async find(name) {
      const wheels = (await listWheels(directory)).filter((wheel) => wheel.name === name);
      const fitting = wheels.filter(({ filename }) => wheelFit(filename, target) > 0);
      const candidates = fitting.map((wheel) => {
        const { filename, path, version } = wheel;
        const pin: Pin = { kind: "wheel", name, version: version.text, filename, origin: { from: "directory", path } };
        const fit = wheelFit(filename, target);
        return { candidate: fromWheel(pin, version, false, fetcher), version, fit, build: wheel.build };
      });
      const unfit = wheels.filter((wheel) => !fitting.includes(wheel)).map(({ filename }) => filename);
      return { candidates: best(candidates).map(({ candidate }) => candidate), known: wheels.length > 0, unfit };
    },
  };
}

/** Pyodide's own packages: the compiled ones, or those of plain Python. */
export function lockSource(lock: PyodideLock, baseUrl: URL, compiled: boolean, fetcher: Fetcher): Source {
  const find = (name: string): Found => {
    const locked = lock.packages.get(name);
    const isPure = locked?.filename.endsWith("-none-any.whl") ?? false;
    const version = locked && parseVersion(locked.version);
    if (!locked || !version || isPure === compiled) return nothing;
    return { candidates: [fromLock(locked, version, baseUrl, fetcher)], known: true, unfit: [] };
  };
  return { description: `Pyodide's packages (${shown(baseUrl)})`, find: async (name) => find(name) };
}

function fromLock(locked: LockedPackage, version: Version, baseUrl: URL, fetcher: Fetcher): Candidate {
  const { kind, name, filename, sha256 } = locked;
  const url = new URL(filename, baseUrl).href;
  const pin: Pin = { kind, name, version: locked.version, filename, sha256, origin: { from: "web", url } };
  return {
    pin,
    version,
    yanked: false,
    needs: async () => ({ requires: locked.depends.map(parseRequirement), python: [] }),
    ...(kind === "wheel" && { ownNeeds: fromWheel(pin, version, false, fetcher).needs }),
  };
}

/** An index of the network, as PEP 503 and PEP 691 describe it. */
export function indexSource(indexUrl: URL, target: WheelTarget, fetcher: Fetcher): Source {
  const fits = ({ requiresPython }: IndexFile) => acceptsPython(requiresPython, target.python);
  return {
    description: `the index ${shown(indexUrl)}`,
    async find(name) {
      const files = await filesOf(fetcher, indexUrl, name);
      if (!files) return nothing;
      const pace = new Pace();
      const wheels: (Ranked & { readonly file: IndexFile; readonly url: URL; readonly wheel: WheelName })[] = [];
      const unfit: string[] = [];
      for (const file of files) {
        await pace.next();
        const fit = wheelFit(file.filename, target);
        const wheel = fit > 0 && fits(file) ? parseWheelName(file.filename) : undefined;
        const url = wheel?.name === name ? file.url() : undefined;
        if (wheel && url) wheels.push({ file, url, wheel, fit, version: wheel.version, build: wheel.build });
        else unfit.push(file.filename);
      }
      const chosen = await newest(wheels, pace);
      return {
        candidates: chosen.map(({ file, url, wheel }) => fromIndex(file, url, wheel, fetcher)),
        known: true,
        unfit,
      };
    },
  };
}

function fromIndex(file: IndexFile, url: URL, { name, version }: WheelName, fetcher: Fetcher): Candidate {
  const { filename, sha256, metadataSha256, yanked } = file;
  const pin: Pin = {
    kind: "wheel",
    name,
    version: version.text,
    filename,
    // One without a hash matches none: the fetcher refuses it by name.
    sha256: sha256 ?? "",
    origin: { from: "web", url: url.href },
  };
  const whole = fromWheel(pin, version, yanked, fetcher);
  if (metadataSha256 === undefined) return whole;
  const needs = async () => {
    const beside = new URL(url);
    beside.pathname += ".metadata";
    const bytes = await fetcher.getFor(name, beside, largestMetadata);
    if (sha256Of(bytes) === metadataSha256) return readable(pin, () => parseMetadata(bytes.toString()));
    throw packageError("TRANSPORT", name, `the metadata of ${filename} does not have the hash that the index gives`);
  };
  return { ...whole, needs };
}

/** A candidate that tells what it needs by its own bytes. */
function fromWheel(pin: Pin, version: Version, yanked: boolean, fetcher: Fetcher): Candidate {
  const needs = async () => {
    const bytes = await fetcher.bytesOf(pin);
    return readable(pin, () => readWheelMetadata(bytes, pin.name, pin.version));
  };
  return { pin, version, yanked, needs };
}

/** @throws SandboxError `INVALID` for an archive that is none */
export function readable<Result>({ name, filename }: Pin, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadArchive) throw packageError("INVALID", name, `${filename} ${error.message}`, error);
    throw error;
  }
}

/** On the Python, in characters. Longer ones are taken as those that cannot be read. */
const longestConditions = 500;

function acceptsPython(conditions: string | undefined, python: string): boolean {
  const version = parseVersion(python);
  if (!conditions || !version || conditions.length > longestConditions) return true;
  try {
    return satisfies(version, parseSpecifiers(conditions));
  } catch (error) {
    // Written by authors of long ago in ways of their own: as installers do, it is taken for no condition.
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}

interface Ranked {
  readonly version: Version;
  readonly fit: number;
  readonly build: number;
}

/** The newest version first, and of one version the archive that fits best. */
function best<Each extends Ranked>(ranked: readonly Each[]): Each[] {
  const sorted = ranked.toSorted((a, b) => compareVersions(b.version, a.version) || b.fit - a.fit || b.build - a.build);
  return sorted.filter(({ version }, place) => {
    const before = sorted[place - 1];
    return !before || compareVersions(before.version, version) !== 0;
  });
}

/** That are looked at of one package: nobody has as many. */
const mostVersions = 2000;
const piece = 500;

/** The best of many, chosen piece by piece so that others have their turn. */
async function newest<Each extends Ranked>(ranked: readonly Each[], pace: Pace): Promise<Each[]> {
  let kept: Each[] = [];
  for (let at = 0; at < ranked.length; at += piece) {
    await pace.next();
    kept = best([...kept, ...ranked.slice(at, at + piece)]).slice(0, mostVersions);
  }
  return kept;
}
