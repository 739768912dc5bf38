import { printable } from "./printable.js";
import { paintFor } from "./terminal.js";

/** Rows of text under a head, for stdout; control characters in cells cannot steer the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  const paint = paintFor(process.stdout);
  return lines
    .map((row, index) => {
      const text = row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd();
      return `${index === 0 ? paint("bold", text) : text}\n`;
    })
    .join("");
}
