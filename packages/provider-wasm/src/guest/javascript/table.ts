import { inspect } from "./inspect.js";

const indexHead = "(index)";
const valuesHead = "Values";

/** What `console.table` draws; undefined for what is no table. */
export function tableText(data: unknown, only?: readonly string[]): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const rows = rowsOf(data);
  const columns = only ? [...only] : [];
  let hasValues = false;
  for (const [, row] of rows) {
    if (typeof row !== "object" || row === null) hasValues = true;
    else if (!only) for (const key of Object.keys(row)) if (!columns.includes(key)) columns.push(key);
  }
  const heads = [indexHead, ...columns, ...(hasValues ? [valuesHead] : [])];
  const lines = rows.map(([index, row]) => {
    const members = typeof row === "object" && row !== null ? (row as Record<string, unknown>) : undefined;
    const cells = columns.map((key) => (members && Object.hasOwn(members, key) ? short(members[key]) : ""));
    return [index, ...cells, ...(hasValues ? [members ? "" : short(row)] : [])];
  });
  return draw(heads, lines);
}

function rowsOf(data: object): [index: string, row: unknown][] {
  if (data instanceof Map) return [...data].map(([key, value], index) => [`${index}`, { Key: key, Values: value }]);
  if (data instanceof Set) return [...data].map((value, index) => [`${index}`, value]);
  return Object.entries(data);
}

function short(value: unknown): string {
  return inspect(value, { depth: typeof value === "object" && value !== null ? -1 : 0 });
}

function draw(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = heads.map(
    (head, column) => Math.max(head.length, ...lines.map((line) => (line[column] ?? "").length)) + 2,
  );
  const rule = (left: string, middle: string, right: string) =>
    left + widths.map((width) => "─".repeat(width)).join(middle) + right;
  const row = (cells: readonly string[]) =>
    `│${cells.map((cell, column) => ` ${cell}`.padEnd(widths[column] ?? 0)).join("│")}│`;
  return [rule("┌", "┬", "┐"), row(heads), rule("├", "┼", "┤"), ...lines.map(row), rule("└", "┴", "┘")].join("\n");
}
