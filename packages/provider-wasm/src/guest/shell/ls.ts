import type { IFileSystem } from "just-bash";
import { FileFailure } from "./broker.js";
import { type Entry, type LsOptions, longLines, shownName } from "./ls-lines.js";
import type { Run } from "./nested.js";
import { readOptions } from "./read-options.js";

const letters = "aAdFfghHiklLnNopqrRsStuU1cG";
const names = {
  all: "a",
  "almost-all": "A",
  classify: "F",
  directory: "d",
  dereference: "L",
  "human-readable": "h",
  inode: "i",
  kibibytes: "k",
  literal: "N",
  "no-group": "G",
  "numeric-uid-gid": "n",
  recursive: "R",
  reverse: "r",
  size: "s",
};

/** What does nothing here, or has a value that may be left out. */
const without = /^--(?:color|hyperlink)(?:=.*)?$/;

interface Listing {
  readonly fs: IFileSystem;
  readonly options: LsOptions;
  /** Complaints, in order. */
  readonly stderr: string[];
}

/** `ls` in the options of GNU's that scripts use. just-bash's takes names for patterns, and puts empty lines between. */
export const ls: Run = async (args, { fs, cwd }) => {
  const { options, operands } = readOptions(
    args.filter((arg) => !without.test(arg)),
    { letters, names },
  );
  const listing: Listing = { fs, options: withMeaning(options), stderr: [] };
  const files: Entry[] = [];
  const directories: { name: string; path: string }[] = [];
  for (const name of operands.length > 0 ? operands : ["."]) {
    const path = fs.resolvePath(cwd, name);
    const entry = await look(listing, name, path, name.endsWith("/") || follows(listing.options));
    if (entry?.stat?.isDirectory && !listing.options.has("d")) directories.push({ name, path });
    else if (entry) files.push(entry);
  }
  const parts = files.length > 0 ? [lines(listing, sorted(listing.options, files))] : [];
  const headed = listing.options.has("R") || operands.length > 1;
  const order = new Set(
    sorted(
      listing.options,
      directories.map(({ name }) => ({ name })),
    ).map(({ name }) => name),
  );
  for (const name of order) {
    for (const directory of directories.filter((one) => one.name === name)) {
      parts.push(...(await listDirectory(listing, directory.name, directory.path, headed)));
    }
  }
  return { stdout: parts.join("\n"), stderr: listing.stderr.join(""), exitCode: listing.stderr.length > 0 ? 2 : 0 };
};

/** Those that stand for others, spelled out. */
function withMeaning(options: LsOptions): LsOptions {
  const all = new Map(options);
  const also: readonly (readonly [string, string])[] = [
    ["f", "aU"],
    ["n", "l"],
    ["g", "l"],
    ["o", "l"],
  ];
  for (const [letter, others] of also) if (all.has(letter)) for (const other of others) all.set(other, "");
  return all;
}

/** Whether what an operand leads to is looked at, where it is a link. */
function follows(options: LsOptions): boolean {
  return options.has("L") || options.has("H") || !["l", "d", "F"].some((letter) => options.has(letter));
}

/** One directory, and with -R all below it. */
async function listDirectory(listing: Listing, name: string, path: string, headed: boolean): Promise<string[]> {
  const { fs, options } = listing;
  let found: string[];
  try {
    found = await fs.readdir(path);
  } catch (error) {
    complain(listing, `cannot open directory '${name}'`, error);
    return [];
  }
  const shown = found.filter((entry) => options.has("a") || options.has("A") || !entry.startsWith("."));
  if (options.has("a")) shown.unshift(".", "..");
  const entries: Entry[] = [];
  for (const entry of shown) {
    const place = fs.resolvePath(path, entry);
    const seen = needsFacts(options) ? await look(listing, entry, place, options.has("L")) : { name: entry };
    if (seen) entries.push(seen);
  }
  const all = sorted(options, entries);
  const text = `${headed ? `${name}:\n` : ""}${lines(listing, all, true)}`;
  const below: string[] = [];
  for (const { name: entry, stat } of options.has("R") ? all : []) {
    if (!stat?.isDirectory || entry === "." || entry === "..") continue;
    below.push(...(await listDirectory(listing, `${name.replace(/\/$/, "")}/${entry}`, `${path}/${entry}`, true)));
  }
  return [text, ...below];
}

function needsFacts(options: LsOptions): boolean {
  return [..."lFptSisRL"].some((letter) => options.has(letter));
}

async function look(listing: Listing, name: string, path: string, follow: boolean): Promise<Entry | undefined> {
  const { fs } = listing;
  try {
    const own = await fs.lstat(path);
    if (!own.isSymbolicLink) return { name, stat: own };
    // A link that leads nowhere is shown itself.
    const stat = follow && (await fs.exists(path)) ? await fs.stat(path) : own;
    return stat === own ? { name, stat, target: await fs.readlink(path) } : { name, stat };
  } catch (error) {
    complain(listing, `cannot access '${name}'`, error);
    return undefined;
  }
}

function complain(listing: Listing, what: string, error: unknown): void {
  if (!(error instanceof FileFailure)) throw error;
  listing.stderr.push(`ls: ${what}: ${error.reason}\n`);
}

function sorted(options: LsOptions, entries: readonly Entry[]): readonly Entry[] {
  if (options.has("U")) return entries;
  const byName = (one: Entry, other: Entry) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
  const key = ({ stat }: Entry) => (options.has("S") ? (stat?.size ?? 0) : options.has("t") ? Number(stat?.mtime) : 0);
  const all = entries.toSorted((one, other) => (key(other) || 0) - (key(one) || 0) || byName(one, other));
  return options.has("r") ? all.toReversed() : all;
}

function lines({ options }: Listing, entries: readonly Entry[], isDirectory = false): string {
  if (options.has("l")) return longLines(entries, options, isDirectory);
  return entries.map((entry) => `${shownName(entry, options)}\n`).join("");
}
