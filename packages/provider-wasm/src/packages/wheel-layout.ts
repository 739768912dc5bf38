import { BadArchive } from "./bad-archive.js";
import { distInfoOf } from "./wheel-metadata.js";
import { listZip, readZip, type ZipEntry } from "./zip.js";

/** Where packages lie in every sandbox. */
export const sitePackages = "/usr/local/lib/python3.14/site-packages";
/** Where their programs lie. */
const scriptDirectory = "/usr/local/bin";
/** Where the libraries of Pyodide's packages lie. */
const libraryDirectory = "/usr/lib";

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

const [plain, executable] = [0o644, 0o755];

/**
 * Every file of an archive with its place. Nothing is unpacked yet, but every name has been looked at.
 * @throws BadArchive, here or by `read`
 */
export function placeFiles(archive: Pick<PreparedArchive, "kind" | "name" | "version" | "bytes">): PlacedFile[] {
  const bytes = Buffer.from(archive.bytes.buffer, archive.bytes.byteOffset, archive.bytes.length);
  const entries = listZip(bytes);
  if (archive.kind === "library")
    return entries.map((entry) => fileAt(bytes, entry, `${libraryDirectory}/${entry.name}`));
  const distInfo = distInfoOf(entries, archive.name, archive.version);
  const data = `${distInfo.slice(0, -".dist-info".length)}.data/`;
  const files = entries.map((entry) => {
    if (!entry.name.startsWith(data)) return fileAt(bytes, entry, `${sitePackages}/${entry.name}`);
    return placeData(bytes, entry, entry.name.slice(data.length), archive.name);
  });
  const places = new Set(files.map(({ path }) => path));
  if (places.size < files.length) throw new BadArchive("puts two files in one place");
  return [
    ...files,
    ...launchers(bytes, entries, distInfo).filter(({ path }) => !places.has(path)),
    installer(distInfo),
  ];
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

/** `#!python` stands for whichever Python there is. */
function script(path: string, size: number, read: () => Buffer): PlacedFile {
  const interpreter = "#!/usr/bin/python3";
  const readScript = () => {
    const content = read();
    const end = content.indexOf("\n");
    const own = end < 0 || !/^#!pythonw?\b/.test(content.toString("latin1", 0, end));
    return own ? content : Buffer.concat([Buffer.from(interpreter), content.subarray(end)]);
  };
  return { path, mode: executable, size: size + interpreter.length, read: readScript };
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
  return own.split("\n").flatMap((line) => {
    const match = /^\s*([\w.-]+)\s*=\s*([\w.]+)\s*:\s*([\w.]+)/.exec(line);
    const [, name = "", module = "", object = ""] = match ?? [];
    if (!match || /^\.+$/.test(name)) return [];
    const [first = ""] = object.split(".");
    const source = `#!/usr/bin/python3\nimport sys\nfrom ${module} import ${first}\nsys.exit(${object}())\n`;
    const content = Buffer.from(source);
    return [{ path: `${scriptDirectory}/${name}`, mode: executable, size: content.length, read: () => content }];
  });
}

function installer(distInfo: string): PlacedFile {
  const content = Buffer.from("sandkit\n");
  return { path: `${sitePackages}/${distInfo}/INSTALLER`, mode: plain, size: content.length, read: () => content };
}
