import type { Context } from "./inspect.js";

/** Fewer entries stay in one list. */
const groupFrom = 6;
const mostColumns = 15;
const separator = ", ".length;

/** Puts the entries of an object between its braces: on one line, in columns, or each on a line of its own. */
export function arranged(
  base: string,
  braces: readonly [open: string, close: string],
  entries: readonly string[],
  list: object | undefined,
  context: Context,
): string {
  const { compact, indentation } = context;
  const head = base === "" ? "" : `${base} `;
  const rows = compact > 0 && list && entries.length > groupFrom ? inColumns(entries, list, context) : entries;
  if (context.lastLevel - context.level < compact && rows === entries) {
    const start = entries.length + indentation + braces[0].length + base.length + 10;
    const line = entries.join(", ");
    if (fits(entries, start, base, context) && !line.includes("\n")) return `${head}${braces[0]} ${line} ${braces[1]}`;
  }
  const indent = `\n${" ".repeat(indentation)}`;
  return `${head}${braces[0]}${indent}  ${rows.join(`,${indent}  `)}${indent}${braces[1]}`;
}

function fits(entries: readonly string[], start: number, base: string, { breakLength }: Context): boolean {
  const length = entries.reduce((sum, entry) => sum + entry.length, entries.length + start);
  return length <= breakLength && !base.includes("\n");
}

/** Many short entries of a list in columns; the entries themselves where that makes nothing better. */
function inColumns(entries: readonly string[], list: object, context: Context): readonly string[] {
  // What tells of the items that are left out has a line of its own.
  const count = entries.length > context.maxArrayLength ? entries.length - 1 : entries.length;
  const lengths = entries.slice(0, count).map((entry) => entry.length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0) + separator;
  const total = lengths.reduce((sum, length) => sum + length + separator, 0);
  const room = context.breakLength - context.indentation;
  if (longest * 3 >= room || !(total / longest > 5 || longest - separator <= 6)) return entries;
  const bias = Math.sqrt(longest - total / entries.length);
  const biased = Math.max(longest - 3 - bias, 1);
  const square = Math.round(Math.sqrt(2.5 * biased * count) / biased);
  const columns = Math.min(square, Math.floor(room / longest), context.compact * 4, mostColumns);
  if (columns <= 1) return entries;
  const widths = Array.from({ length: columns }, (_, column) =>
    lengths.reduce((most, length, index) => (index % columns === column ? Math.max(most, length) : most), 0),
  );
  const toTheRight = isAllNumbers(list as ArrayLike<unknown>, entries.length);
  const rows: string[] = [];
  for (let start = 0; start < count; start += columns) {
    const row = entries.slice(start, Math.min(start + columns, count));
    const cells = row.map((entry, column) => {
      const [isLast, width] = [column === row.length - 1, widths[column] ?? 0];
      if (toTheRight) return isLast ? entry.padStart(width) : `${entry}, `.padStart(width + separator);
      return isLast ? entry : `${entry}, `.padEnd(width + separator);
    });
    rows.push(cells.join(""));
  }
  return [...rows, ...entries.slice(count)];
}

function isAllNumbers(list: ArrayLike<unknown>, count: number): boolean {
  for (let index = 0; index < count; index += 1) {
    if (typeof list[index] !== "number" && typeof list[index] !== "bigint") return false;
  }
  return true;
}
