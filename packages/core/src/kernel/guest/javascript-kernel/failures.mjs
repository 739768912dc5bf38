import { inspect } from "node:util";
import { capped } from "./forms.mjs";

const maxErrorLength = 100_000;
/** Frames of Node and of this kernel. */
const foreignFrame = /^\s+at .*(\bnode:|sandkit-kernel|<anonymous>$|\(native\)$)/;

/** An error as Node prints it, with the frames of the user alone. */
export function tracebackOf(error) {
  let text;
  try {
    text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  } catch (problem) {
    text = `[an error that cannot be shown: ${problem?.message}]`;
  }
  const lines = text.split("\n").filter((line) => !foreignFrame.test(line));
  return capped(`${lines.join("\n").trimEnd()}\n`, maxErrorLength);
}

/** What a cell ended with. `details` are the inspector's. */
export function describeError(error, details, source) {
  const isError = error instanceof Error;
  const name = isError ? String(error.name) : (error?.constructor?.name ?? typeof error);
  const message = capped(isError ? String(error.message) : inspect(error), maxErrorLength);
  const traceback = tracebackOf(error);
  // What cannot be compiled has no frames; the inspector knows where it is wrong.
  const compiled = details.stackTrace?.callFrames?.length > 0 || !(error instanceof SyntaxError);
  if (compiled || details.lineNumber === undefined) return { name, message, traceback };
  const line = source.code.split("\n")[details.lineNumber] ?? "";
  const place = `${source.name}:${details.lineNumber + 1}\n${capped(line, 1000)}\n`;
  const mark = details.columnNumber <= 1000 ? `${" ".repeat(details.columnNumber)}^\n` : "";
  return { name, message, traceback: `${place}${mark}${traceback}` };
}
