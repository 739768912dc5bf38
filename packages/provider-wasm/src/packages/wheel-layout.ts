import { posix } from "node:path";
import { BadArchive } from "./bad-archive.js";
import { scriptDirectory } from "./script-directory.js";
import { distInfoOf } from "./wheel-metadata.js";
import { listZip, readZip, type ZipEntry } from "./zip.js";

/** Where packages lie in every sandbox. */
export const sitePackages = "/usr/local/lib/python3.14/site-packages";
/** Where the libraries of Pyodide's packages lie. */
export const libraryDirectory = "/usr/lib";

/** A verified archive, ready to be unpacked into a sandbox. */
export interface PreparedArchive {
  readonly kind: "wheel" | "library";
  /** Normalised name of its package. */
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** One file of an archive and its place in the sandbox. */
export interface PlacedFile {
  /** Absolute. */
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly read: () => Uint8Array;
}

type NamedArchive = Pick<PreparedArchive, "kind" | "name" | "version" | "bytes">;

const [plain, executable] = [0o644, 0o755];

/**
 * Every file of an archive with its place, and with those that tell of the package. Nothing is unpacked yet, but every
 * name has been looked at.
 * @throws BadArchive, here or by `read`
 */
export function placeFiles(archive: NamedArchive): PlacedFile[] {
  const bytes = Buffer.from(archive.bytes.buffer, archive.bytes.byteOffset, archive.bytes.length);
  const entries = listZip(bytes);
  const { distInfo, files } =
    archive.kind === "library" ? placeLibrary(bytes, entries, archive) : placeWheel(bytes, entries, archive);
  const all = [...files, generated(`${sitePackages}/${distInfo}/INSTALLER`, "sandkit\n")];
  return [...all, recordOf(`${sitePackages}/${distInfo}/RECORD`, all)];
}

interface Placed {
  readonly distInfo: string;
  readonly files: readonly PlacedFile[];
}

function placeWheel(bytes: Buffer, entries: readonly ZipEntry[], { name, version }: NamedArchive): Placed {
  const distInfo = distInfoOf(entries, name, version);
  const data = `${distInfo.slice(0, -".dist-info".length)}.data/`;
  // Those tell of a wheel, not of what has become of it here.
  const ours = ["INSTALLER", "RECORD"].map((file) => `${distInfo}/${file}`);
  const files = entries
    .filter((entry) => !ours.includes(entry.name))
    .map((entry) => {
      if (!entry.name.startsWith(data)) return fileAt(bytes, entry, `${sitePackages}/${entry.name}`);
      return placeData(bytes, entry, entry.name.slice(data.length), name);
    });
  const places = new Set(files.map(({ path }) => path));
  if (places.size < files.length) throw new BadArchive("puts two files in one place");
  const starters = launchers(bytes, entries, distInfo).filter(({ path }) => !places.has(path));
  return { distInfo, files: [...files, ...starters].filter(({ path }) => !isOwnProgram(path)) };
}

/** What Pyodide's makers pack without a word about it gets the word here, so that it is known to be there. */
function placeLibrary(bytes: Buffer, entries: readonly ZipEntry[], { name, version }: NamedArchive): Placed {
  const distInfo = `${name.replaceAll("-", "_")}-${version}.dist-info`;
  const metadata = `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`;
  const files = entries.map((entry) => fileAt(bytes, entry, `${libraryDirectory}/${entry.name}`));
  return { distInfo, files: [...files, generated(`${sitePackages}/${distInfo}/METADATA`, metadata)] };
}

function placeData(bytes: Buffer, entry: ZipEntry, path: string, name: string): PlacedFile {
  const [scheme = "", ...rest] = path.split("/");
  const inside = rest.join("/");
  switch (scheme) {
    case "purelib":
    case "platlib":
      return fileAt(bytes, entry, `${sitePackages}/${inside}`);
    case "scripts":
      return script(`${scriptDirectory}/${inside}`, entry.size, () => readZip(bytes, entry));
    case "headers":
      return fileAt(bytes, entry, `/usr/local/include/python3.14/${name}/${inside}`);
    case "data":
      return fileAt(bytes, entry, `/usr/local/${inside}`);
    default:
      throw new BadArchive(`holds data of an unknown kind: ${JSON.stringify(entry.name)}`);
  }
}

function fileAt(bytes: Buffer, entry: ZipEntry, path: string): PlacedFile {
  const mode = entry.isExecutable ? executable : plain;
  return { path, mode, size: entry.size, read: () => readZip(bytes, entry) };
}

function generated(path: string, text: string, mode = plain): PlacedFile {
  const content = Buffer.from(text);
  return { path, mode, size: content.length, read: () => content };
}

const interpreterLine = "#!/usr/bin/python3";

/** `#!python` stands for whichever Python there is. */
function script(path: string, size: number, read: () => Buffer): PlacedFile {
  const readScript = () => {
    const content = read();
    const end = content.indexOf("\n");
    const own = end < 0 || !/^#!pythonw?\b/.test(content.toString("latin1", 0, end));
    return own ? content : Buffer.concat([Buffer.from(interpreterLine), content.subarray(end)]);
  };
  return { path, mode: executable, size: size + interpreterLine.length, read: readScript };
}

/** The sandbox's own programs, whatever packages would put before them: a `pip` in Python would reach nothing. */
function isOwnProgram(path: string): boolean {
  return /^(?:(?:python|pip)[\d.]*|node|sh|bash)$/.test(posix.relative(scriptDirectory, path));
}

const longestEntryPoints = 1024 * 1024;

/** The programs that a package declares by the function that they call. */
function launchers(bytes: Buffer, entries: readonly ZipEntry[], distInfo: string): PlacedFile[] {
  const entry = entries.find(({ name }) => name === `${distInfo}/entry_points.txt`);
  if (!entry || entry.size > longestEntryPoints) return [];
  const [, section = ""] = readZip(bytes, entry)
    .toString()
    .split(/^\[console_scripts\]\s*$/m);
  const [own = ""] = section.split(/^\[/m);
  const programs = new Map<string, PlacedFile>();
  for (const line of own.split("\n")) {
    const match = /^\s*([\w.-]+)\s*=\s*([\w.]+)\s*:\s*([\w.]+)/.exec(line);
    const [, name = "", module = "", object = ""] = match ?? [];
    if (!match || /^\.+$/.test(name)) continue;
    const [first = ""] = object.split(".");
    const source = `${interpreterLine}\nimport sys\nfrom ${module} import ${first}\nsys.exit(${object}())\n`;
    programs.set(name, generated(`${scriptDirectory}/${name}`, source, executable));
  }
  return [...programs.values()];
}

/** The record by which a package is removed, of what it has become: programs and moved files too. */
function recordOf(path: string, files: readonly PlacedFile[]): PlacedFile {
  const names = [...files.map((file) => file.path), path].map((each) => posix.relative(sitePackages, each));
  const rows = names.map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}",,` : `${name},,`));
  return generated(path, `${rows.join("\n")}\n`);
}
