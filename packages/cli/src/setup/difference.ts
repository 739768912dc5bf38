import type { Paint } from "../terminal.js";

const contextLines = 3;

/** What differs between two versions of a file, as `diff -u` shows it: one piece from the first changed line to the last. */
export function difference(path: string, before: string, after: string, paint: Paint): string {
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - start && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const from = Math.max(0, start - contextLines);
  const follow = Math.min(tail, contextLines);
  const oldEnd = old.length - tail;
  const nowEnd = now.length - tail;
  const range = (end: number) => `${end + follow === from ? from : from + 1},${end + follow - from}`;
  return [
    paint("bold", `--- ${path}`),
    paint("bold", `+++ ${path}`),
    paint("cyan", `@@ -${range(oldEnd)} +${range(nowEnd)} @@`),
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, oldEnd).map((line) => paint("red", `-${line}`)),
    ...now.slice(start, nowEnd).map((line) => paint("green", `+${line}`)),
    ...now.slice(nowEnd, nowEnd + follow).map((line) => ` ${line}`),
    "",
  ].join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
