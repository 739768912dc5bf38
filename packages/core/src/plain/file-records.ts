import type { FileInfo } from "../provider.js";

const types: Readonly<Record<number, FileInfo["type"]>> = { 32768: "file", 16384: "directory", 40960: "symlink" };

/** A record as `stat -c '%f %s %Y %y'` prints it: mode in hexadecimal, size, seconds, and the time with its fraction. */
export function parseRecord(path: string, text: string): FileInfo {
  const [bits = "0", size = "0", seconds = "0", ...time] = text.trim().split(" ");
  const mode = Number.parseInt(bits, 16);
  const fraction = /\.(\d{1,3})/.exec(time.join(" "))?.[1] ?? "0";
  return {
    path,
    type: types[mode & 0xf000] ?? "other",
    size: Number(size),
    mode: mode & 0o7777,
    modifiedAt: new Date(Number(seconds) * 1000 + Number(fraction.padEnd(3, "0"))),
  };
}

/** A time as `guest/files.sh` compares it. */
export function guestTime(time: Date): string {
  const ms = time.getTime();
  return `${Math.floor(ms / 1000)}.${String(((ms % 1000) + 1000) % 1000).padStart(3, "0")}`;
}

/** What `list_directory` prints: records that end with a separator that no name has, then links with their targets. */
export function parseListing(output: Buffer, separator: string): FileInfo[] {
  const parts = output.toString("utf8").split(separator);
  const links = new Map<string, string>();
  const pairs = (parts.at(-1) ?? "").split("\0");
  for (let at = 0; at + 1 < pairs.length; at += 2) links.set(pairs[at] ?? "", pairs[at + 1] ?? "");
  const entries: FileInfo[] = [];
  // Each is "STAT/" and "PATH/", the line break of the one before going first.
  for (let at = 0; at + 2 < parts.length; at += 2) {
    const path = (parts[at + 1] ?? "").slice(0, -1);
    const record = parseRecord(path, (parts[at] ?? "").slice(0, -1));
    entries.push(record.type === "symlink" ? { ...record, symlinkTarget: links.get(path) } : record);
  }
  return entries.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
}
