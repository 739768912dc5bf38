/** Node's `path` for POSIX. */

let workingDirectory = "/";

/** The directory that relative paths start from. */
export function cwd(): string {
  return workingDirectory;
}

/** Takes an absolute path of a directory that is known to be there. */
export function setCwd(path: string): void {
  workingDirectory = path;
}

function checked(path: unknown): string {
  if (typeof path === "string") return path;
  const error = new TypeError(`The "path" argument must be of type string. Received ${typeof path}`);
  throw Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}

function parts(path: string, absolute: boolean): string[] {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!absolute) kept.push(part);
  }
  return kept;
}

export function normalize(path: string): string {
  if (checked(path) === "") return ".";
  const absolute = path.startsWith("/");
  const joined = parts(path, absolute).join("/");
  const slash = path.endsWith("/") && joined !== "" ? "/" : "";
  if (absolute) return `/${joined}${slash}`;
  return joined === "" ? (path.endsWith("/") ? "./" : ".") : joined + slash;
}

export function join(...paths: string[]): string {
  const given = paths.filter((path) => checked(path) !== "");
  return given.length === 0 ? "." : normalize(given.join("/"));
}

export function resolve(...paths: string[]): string {
  let whole = "";
  for (let index = paths.length - 1; index >= -1 && !whole.startsWith("/"); index -= 1) {
    const path = index < 0 ? workingDirectory : checked(paths[index]);
    if (path !== "") whole = whole === "" ? path : `${path}/${whole}`;
  }
  return `/${parts(whole, true).join("/")}`;
}

export function isAbsolute(path: string): boolean {
  return checked(path).startsWith("/");
}

export function dirname(path: string): string {
  const trimmed = checked(path).replace(/\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  if (slash < 0) return path.startsWith("/") ? "/" : ".";
  return trimmed.slice(0, slash).replace(/\/+$/, "") || "/";
}

export function basename(path: string, suffix = ""): string {
  const trimmed = checked(path).replace(/\/+$/, "");
  const name = trimmed.slice(trimmed.lastIndexOf("/") + 1);
  return suffix !== "" && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function extname(path: string): string {
  const name = basename(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 || /^\.+$/.test(name.slice(0, dot + 1)) ? "" : name.slice(dot);
}

export function relative(from: string, to: string): string {
  const [start, end] = [resolve(from), resolve(to)].map((path) => parts(path, true)) as [string[], string[]];
  let same = 0;
  while (same < start.length && same < end.length && start[same] === end[same]) same += 1;
  return [...start.slice(same).map(() => ".."), ...end.slice(same)].join("/");
}

export function parse(path: string): { root: string; dir: string; base: string; ext: string; name: string } {
  const base = basename(path);
  const ext = extname(base);
  const root = isAbsolute(path) ? "/" : "";
  const dir = path.includes("/") ? dirname(path) : "";
  return { root, dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
}

export function format(parts: { dir?: string; root?: string; base?: string; name?: string; ext?: string }): string {
  const { dir, root = "", name = "", ext = "" } = parts;
  const base = parts.base ?? name + (ext === "" || ext.startsWith(".") ? ext : `.${ext}`);
  if (dir === undefined) return root + base;
  return dir === root ? dir + base : `${dir}/${base}`;
}

export const sep = "/";
export const delimiter = ":";
export const toNamespacedPath = (path: string): string => path;
