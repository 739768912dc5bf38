import { styleText } from "node:util";
import type { TourCall } from "./steps.js";

/** Longer texts are shown with this much of their head and of their tail. */
const headLines = 6;
const tailLines = 5;

/** A call as one reads it: the tool, then what it is given. */
export function showCall({ tool, arguments: given }: TourCall): string {
  const { code, command, path, content, timeout } = given;
  const limit = timeout === undefined ? "" : paint("dim", `  (timeout ${timeout} s)`);
  if (typeof code === "string") return block(`${arrow("→")} ${paint("bold", tool)}${limit}`, code);
  if (typeof command === "string") return `${arrow("→")} ${paint("bold", tool)}  ${command}${limit}`;
  const size = typeof content === "string" ? paint("dim", `  (${Buffer.byteLength(content)} bytes)`) : "";
  return `${arrow("→")} ${paint("bold", tool)}  ${path}${size}`;
}

/** The text of a result, with the time it took. */
export function showResult(text: string, milliseconds: number, ok: boolean): string {
  const mark = ok ? paint("green", "✓") : paint("red", "✗");
  return block(`${arrow("←")} ${mark} ${paint("dim", `${milliseconds.toFixed(0)} ms`)}`, text.replace("\n\n", "\n"));
}

/** The heading of a step. */
export function showTitle(number: number, title: string): string {
  return paint("bold", `\n${number}  ${title}`);
}

function block(head: string, text: string): string {
  const lines = text.trimEnd().split("\n");
  const hidden = lines.length - headLines - tailLines;
  const cut = [...lines.slice(0, headLines), paint("dim", `… ${hidden} more lines`), ...lines.slice(-tailLines)];
  const shown = hidden > 1 ? cut : lines;
  return [head, ...shown.map((line) => `       ${line}`)].join("\n");
}

function arrow(sign: string): string {
  return `   ${paint("cyan", sign)}`;
}

function paint(style: "bold" | "dim" | "red" | "green" | "cyan", text: string): string {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY && !NO_COLOR && TERM !== "dumb" ? styleText(style, text) : text;
}
