import type { IFileSystem } from "just-bash";

type Stat = Awaited<ReturnType<IFileSystem["lstat"]>>;

/** By letter. */
export type LsOptions = ReadonlyMap<string, string>;

/** What is shown in one line. */
export interface Entry {
  readonly name: string;
  /** Undefined where nothing of it is shown. */
  readonly stat?: Stat;
  /** Where a link leads. */
  readonly target?: string;
}

const blockBytes = 4096;
const halfYearMs = (365.2425 / 2) * 24 * 3600 * 1000;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The lines of `ls -l`, their columns below one another. */
export function longLines(entries: readonly Entry[], options: LsOptions, withTotal: boolean): string {
  const rows = entries.map((entry) => row(entry, options));
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  // Numbers to the right, names of owners to the left.
  const text = rows.map((cells, index) => {
    const padded = cells.map((cell, column) =>
      /^[\d.]+[KMGT]?$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    return `${[...padded, shownName(entries[index] ?? { name: "" }, options, true)].join(" ")}\n`;
  });
  const total = entries.reduce((sum, { stat }) => sum + blocks(stat), 0);
  const shownTotal = options.has("h") ? humanSize(total * 1024) : String(total);
  return `${withTotal ? `total ${shownTotal}\n` : ""}${text.join("")}`;
}

/** A name with what belongs before and after it. */
export function shownName({ name, stat, target }: Entry, options: LsOptions, isLong = false): string {
  const before = isLong
    ? ""
    : `${options.has("i") ? `${stat?.ino ?? 0} ` : ""}${options.has("s") ? `${blocks(stat)} ` : ""}`;
  const leads = isLong && target !== undefined ? ` -> ${target}` : "";
  return `${before}${name}${leads || mark(stat, options)}`;
}

function mark(stat: Stat | undefined, options: LsOptions): string {
  if (!stat || !(options.has("F") || options.has("p"))) return "";
  if (stat.isDirectory) return "/";
  if (!options.has("F")) return "";
  return stat.isSymbolicLink ? "@" : (stat.mode & 0o111) !== 0 ? "*" : "";
}

function row({ stat }: Entry, options: LsOptions): string[] {
  if (!stat) return [];
  const owner = options.has("n") ? "1000" : "user";
  return [
    ...(options.has("i") ? [String(stat.ino ?? 0)] : []),
    ...(options.has("s") ? [String(blocks(stat))] : []),
    modeText(stat),
    "1",
    ...(options.has("g") ? [] : [owner]),
    ...(options.has("o") || options.has("G") ? [] : [owner]),
    options.has("h") ? humanSize(stat.size) : String(stat.size),
    dateText(stat.mtime),
  ];
}

/** In KiB. */
function blocks(stat: Stat | undefined): number {
  return stat && !stat.isSymbolicLink ? Math.ceil(stat.size / blockBytes) * (blockBytes / 1024) : 0;
}

function modeText({ isDirectory, isSymbolicLink, mode }: Stat): string {
  const bits = [..."rwxrwxrwx"].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : "-"));
  if (mode & 0o1000) bits[8] = bits[8] === "x" ? "t" : "T";
  return `${isDirectory ? "d" : isSymbolicLink ? "l" : "-"}${bits.join("")}`;
}

function dateText(time: Date): string {
  const day = `${months[time.getUTCMonth()]} ${String(time.getUTCDate()).padStart(2)}`;
  const age = Date.now() - time.getTime();
  const isRecent = age < halfYearMs && age > -3_600_000;
  return `${day} ${isRecent ? time.toISOString().slice(11, 16) : String(time.getUTCFullYear()).padStart(5)}`;
}

function humanSize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < 4; unit += 1) value /= 1024;
  if (unit === 0) return String(bytes);
  const shown = value < 10 ? (Math.ceil(value * 10) / 10).toFixed(1) : String(Math.ceil(value));
  return `${shown}${" KMGT"[unit]}`;
}
