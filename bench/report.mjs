/**
 * One line of a part: what raw means, a rival and Sandkit need for the same thing. A string stands for itself.
 * @typedef {{
 *   id: string,
 *   what: string,
 *   unit: "ms" | "MiB" | "count",
 *   raw?: number | string,
 *   rival?: number | string,
 *   sandkit: number | string,
 *   target?: number,
 *   minRatio?: number,
 *   maxRatio?: number,
 * }} Row
 */

/** @typedef {{ name: string, columns: readonly string[], rows: readonly Row[], notes?: readonly string[] }} Part */

/**
 * The table of a part as aligned text.
 * @param {Part} part
 */
export function table({ columns, rows, notes = [] }) {
  const cells = [columns, ...rows.map((row) => cellsOf(row, columns.length))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, ...notes.map((note) => `  ${note}`)].join("\n");
}

/**
 * The same table for a page of the documentation.
 * @param {Part} part
 */
export function markdown({ columns, rows }) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(" | ")} |`;
  const rule = columns.map((_, index) => (index === 0 ? "---" : "--:"));
  return [line(columns), line(rule), ...rows.map((row) => line(cellsOf(row, columns.length)))].join("\n");
}

/**
 * Bars of one row each, to one scale.
 * @param {readonly { name: string, value: number }[]} bars In milliseconds.
 */
export function chart(bars) {
  const longest = Math.max(...bars.map(({ value }) => value));
  const width = Math.max(...bars.map(({ name }) => name.length));
  return bars
    .map(
      ({ name, value }) =>
        `${name.padEnd(width)}  ${"█".repeat(Math.max(1, Math.round((value / longest) * 50)))} ${format(value, "ms")}`,
    )
    .join("\n");
}

/**
 * Whether a row holds what is wanted of it; undefined where nothing is.
 * @param {Row} row
 */
export function isMet({ raw, sandkit, target, minRatio, maxRatio }) {
  if (typeof sandkit !== "number" || (target ?? minRatio ?? maxRatio) === undefined) return undefined;
  const below = target === undefined || sandkit <= target;
  if (typeof raw !== "number") return below;
  const faster = minRatio === undefined || raw / sandkit >= minRatio;
  return below && faster && (maxRatio === undefined || sandkit / raw <= maxRatio);
}

/**
 * @param {Row} row
 * @param {number} columns Four without a rival; six with a target and whether it is met; seven with all of them.
 */
function cellsOf(row, columns) {
  const { what, unit, raw, rival, sandkit } = row;
  const values = [what, format(raw, unit), format(rival, unit), format(sandkit, unit), ratio(raw, sandkit)];
  if (columns < 7) values.splice(2, 1);
  if (columns === 4) return values;
  const met = isMet(row);
  return [...values, targetOf(row), met === undefined ? "" : met ? "met" : "NOT met"];
}

/** @param {Row} row */
function targetOf({ unit, target, minRatio, maxRatio }) {
  const parts = [];
  if (target !== undefined) parts.push(`≤ ${unit === "count" ? target : `${target} ${unit}`}`);
  if (minRatio !== undefined) parts.push(`≥ ${minRatio} ×`);
  if (maxRatio !== undefined) parts.push(`≤ ${maxRatio} × raw`);
  return parts.join(", ");
}

/**
 * How many times less Sandkit takes.
 * @param {number | string | undefined} raw
 * @param {number | string} ours
 */
function ratio(raw, ours) {
  if (typeof raw !== "number" || typeof ours !== "number" || ours === 0) return "";
  const times = raw / ours;
  return `${times.toFixed(times < 9.95 ? 1 : 0)} ×`;
}

/**
 * @param {number | string | undefined} value
 * @param {Row["unit"]} unit
 */
function format(value, unit) {
  if (value === undefined) return "–";
  if (typeof value === "string") return value;
  if (unit === "count") return String(value);
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}
