import { printable } from "./printable.js";
import { paintFor } from "./terminal.js";

/**
 * Rows of text under a head, for stdout; control characters in cells cannot steer the terminal. Each is one line of a
 * terminal: what is longer is cut there, and whole for whoever else reads it.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  const paint = paintFor(process.stdout);
  const { isTTY, columns } = process.stdout;
  const width = isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
  return lines
    .map((row, index) => {
      const text = row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd();
      const line = cut(text, width);
      return `${index === 0 ? paint("bold", line) : line}\n`;
    })
    .join("");
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join("")}…`;
}
