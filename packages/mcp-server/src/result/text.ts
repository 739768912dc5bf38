import { cutJson } from "./cut-json.js";

/** One part of a result's text. */
export interface Section {
  /** Shown above the text unless it is the only part. */
  readonly label: string;
  readonly text: string;
  /** Bytes of the whole, where `text` is already less: whatever its length, the section is not shown whole. */
  readonly totalBytes?: number | undefined;
  /** What to do about a part that is left out of the text; default: what a program can do. */
  readonly remedy?: string | undefined;
}

/** What fits of some sections. */
export interface Joined {
  readonly text: string;
  /** True when anything is missing, here or from a section already. */
  readonly truncated: boolean;
  /** Labels of the sections that are not shown whole. */
  readonly cut: readonly string[];
}

/** A head is cut at its last line when that leaves at least this part of it. */
const wholeLines = 0.8;

/** Joins the sections within a budget of characters: short ones whole, head and tail of the long ones. */
export function joinSections(sections: readonly Section[], budget: number): Joined {
  const shares = share(
    sections.map((section) => section.text.length),
    budget,
  );
  const parts = sections.map((section, index) => {
    const body = headAndTail(section, shares[index] ?? 0);
    const label = sections.length > 1 || section.label !== "stdout" ? `[${section.label}]\n` : "";
    return label + body.replace(/\n+$/, "");
  });
  const cut = sections.filter(
    ({ text, totalBytes }, index) => totalBytes !== undefined || text.length > (shares[index] ?? 0),
  );
  return { text: parts.join("\n"), truncated: cut.length > 0, cut: cut.map(({ label }) => label) };
}

/** Divides a budget: nobody gets more than asked for, and what the small leave goes to the large. */
function share(wanted: readonly number[], budget: number): number[] {
  const shares = wanted.map(() => 0);
  let left = budget;
  const order = wanted.map((size, index) => ({ size, index })).sort((a, b) => a.size - b.size);
  for (const [position, { size, index }] of order.entries()) {
    const granted = Math.min(size, Math.floor(left / (order.length - position)));
    shares[index] = granted;
    left -= granted;
  }
  return shares;
}

function headAndTail(section: Section, budget: number): string {
  const { text, totalBytes, remedy = "write long output to a file and read parts of it" } = section;
  if (text.length <= budget) return text;
  const total = totalBytes ?? Buffer.byteLength(text);
  const json = totalBytes === undefined ? cutJson(text, budget) : undefined;
  if (json !== undefined) return `${json}\n[... JSON of ${size(total)}, its lists and texts shortened: ${remedy} ...]`;
  const { head, tail } = ends(text, budget);
  const leftOut = total - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}\n[... ${size(leftOut)} of ${size(total)} left out here: ${remedy} ...]\n${tail}`;
}

/** A text within a number of characters: its middle gives way. */
export function abridged(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const { head, tail } = ends(text, maxChars - 3);
  return `${head} … ${tail}`;
}

/** The beginning and the end of a text within a number of characters together. */
export function ends(text: string, budget: number): { head: string; tail: string } {
  const half = Math.floor(budget / 2);
  const head = text.slice(0, wholeCharacters(text, half));
  const tail = text.slice(wholeCharacters(text, text.length - half));
  const lastLine = head.lastIndexOf("\n");
  const firstLine = tail.indexOf("\n") + 1;
  // Whole lines, where that costs little.
  return {
    head: lastLine > half * wholeLines ? head.slice(0, lastLine) : head,
    tail: firstLine > 0 && firstLine < half * (1 - wholeLines) ? tail.slice(firstLine) : tail,
  };
}

// A border inside a surrogate pair moves in front of it.
function wholeCharacters(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** `1.5 MB`: for people and models. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  for (const [unit, factor] of [
    ["kB", 1e3],
    ["MB", 1e6],
  ] as const) {
    if (bytes < factor * 1000) return `${(bytes / factor).toPrecision(3)} ${unit}`;
  }
  return `${(bytes / 1e9).toPrecision(3)} GB`;
}

/** `12 ms`, `3.2 s`. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
