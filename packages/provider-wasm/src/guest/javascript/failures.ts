import { inspect } from "./inspect.js";
import { isError } from "./inspect-kinds.js";

const longestName = 1_000;
const longestMessage = 100_000;
const longestTraceback = 1_000_000;
/** Frames that are not the user's. */
const ours = /\(sandkit:|at sandkit:/;

/** Name, message and traceback of what was thrown. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly traceback: string;
}

/** A script as the user wrote it. */
export interface Source {
  readonly name: string;
  readonly code: string;
}

/** The header and the frames of an error, in V8's form and without those of the driver. */
export function stackOf(error: Error): string {
  const frames = framesOf(error);
  return [headerOf(error), ...frames].join("\n");
}

function framesOf(error: Error): string[] {
  const { stack } = error;
  if (typeof stack !== "string") return [];
  const lines = stack.split("\n").filter((line) => line.startsWith("    at ") && !ours.test(line));
  // Natives at the foot of the stack are the driver's way into the code.
  while (lines.at(-1)?.endsWith(" (native)")) lines.pop();
  return lines.map((line) =>
    line
      .replace(/ \(native\)$/, " (<anonymous>)")
      .replace(/at (?:<eval>|<anonymous>) \((.*)\)$/, "at $1")
      .replace(/at \((.*)\)$/, "at $1"),
  );
}

function headerOf(error: Error): string {
  try {
    const { code, name } = error as Error & { code?: unknown };
    const told = Error.prototype.toString.call(error);
    const usual = constructorOf(error);
    // A class of the user's that sets no name of its own is shown by the name of the class.
    const header = name === "Error" && usual && usual !== "Error" ? told.replace("Error", usual) : told;
    return typeof code === "string" && code.startsWith("ERR_") ? header.replace(name, `${name} [${code}]`) : header;
  } catch {
    return "Error";
  }
}

function constructorOf(error: object): string | undefined {
  const made: unknown = error.constructor;
  return typeof made === "function" ? made.name : undefined;
}

/** Tells what was thrown. A syntax error of `source` itself is shown with its line. */
export function describe(error: unknown, source?: Source): Failure {
  const name = cut(
    guarded(() => nameOf(error)),
    longestName,
  );
  const message = cut(
    guarded(() => (isError(error) ? String(error.message) : typeof error === "string" ? error : inspect(error))),
    longestMessage,
  );
  return { name, message, traceback: cut(`${guarded(() => trace(error, source))}\n`, longestTraceback) };
}

function nameOf(error: unknown): string {
  if (error === null || error === undefined) return String(error);
  const kind = constructorOf(error as object);
  const own = isError(error) && error.name !== "Error" ? error.name : undefined;
  return String(own || kind || "Error");
}

function trace(error: unknown, source: Source | undefined): string {
  if (!isError(error)) return `Uncaught ${inspect(error)}`;
  const place = source && syntaxPlace(error, source.name);
  if (!source || !place) return inspect(error);
  const shown = source.code.split("\n")[place.line - 1] ?? "";
  return [`${source.name}:${place.line}`, shown, `${" ".repeat(place.column)}^`, headerOf(error)].join("\n");
}

/** Where a script that could not be parsed is wrong. */
function syntaxPlace(error: Error, name: string): { readonly line: number; readonly column: number } | undefined {
  const { fileName, lineNumber, columnNumber } = error as unknown as Record<string, unknown>;
  if (!(error instanceof SyntaxError) || fileName !== name) return undefined;
  return { line: Number(lineNumber), column: Math.max(0, Number(columnNumber) - 1) };
}

function guarded(read: () => string): string {
  try {
    return read();
  } catch {
    // Whatever its own code does, there is something to show.
    return "<raised another error>";
  }
}

/** The text, or its beginning and how much is missing. */
function cut(whole: string, most: number): string {
  return whole.length <= most ? whole : `${whole.slice(0, most)}… (${whole.length - most} more characters)`;
}
