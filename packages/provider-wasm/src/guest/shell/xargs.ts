import type { ExecResult, ResolvedCommandContext } from "just-bash";
import { bytesOfLatin1 } from "./bytes.js";
import { type Run, runCommand, stateOf } from "./nested.js";
import { readOptions } from "./read-options.js";
import { letOut, routesOf } from "./routes.js";

/** Commands that run at one time at most, however many are asked for. */
const mostAtOnce = 8;
/** Bytes of arguments that one command gets at most. */
const longestLine = 128 * 1024;
const names = {
  null: "0",
  delimiter: "d",
  replace: "I",
  "max-args": "n",
  "max-lines": "L",
  "max-procs": "P",
  "no-run-if-empty": "r",
  verbose: "t",
  "max-chars": "s",
};

/** `xargs`: just-bash's takes the options of the command for its own. */
export const xargs: Run = async (args, context) => {
  const { options, operands } = readOptions(args, { letters: "0d:I:n:L:P:rts:", names, inOrder: true });
  const command = operands.length > 0 ? operands : ["echo"];
  const input = new TextDecoder().decode(bytesOfLatin1(`${context.stdin}`));
  const lines = commandLines(command, input, options);
  const atOnce = Math.min(count(options, "P", 1) || mostAtOnce, mostAtOnce);
  return runAll(lines, atOnce, options.has("t"), context);
};

/** The command lines that are to be run. */
function commandLines(command: readonly string[], input: string, options: ReadonlyMap<string, string>): string[][] {
  const replace = options.get("I");
  const items = itemsOf(input, options);
  if (replace !== undefined) {
    if (replace === "") throw new Error("-I: the text to be replaced is empty");
    return items.map((item) => command.map((word) => word.replaceAll(replace, item)));
  }
  const most = count(options, "n", count(options, "L", Number.POSITIVE_INFINITY));
  const longest = Math.min(count(options, "s", longestLine), longestLine);
  const words = options.has("L") ? items.map((item) => wordsOf(item)) : items.map((item) => [item]);
  const lines: string[][] = [];
  let taken = 0;
  let length = 0;
  for (const group of words) {
    const size = group.reduce((sum, word) => sum + word.length + 1, 0);
    if (lines.length === 0 || taken >= most || length + size > longest) {
      lines.push([...command]);
      taken = 0;
      length = command.join(" ").length;
    }
    lines.at(-1)?.push(...group);
    taken += 1;
    length += size;
  }
  return lines.length > 0 || options.has("r") ? lines : [[...command]];
}

function itemsOf(input: string, options: ReadonlyMap<string, string>): string[] {
  const delimiter = options.has("0") ? "\0" : characterOf(options.get("d"));
  if (delimiter === undefined) {
    const lines = () => input.split("\n").filter((line) => line.trim() !== "");
    if (options.has("I")) return lines().map((line) => wordsOf(line.trimStart(), false).join(""));
    return options.has("L") ? lines() : wordsOf(input);
  }
  const items = input.split(delimiter);
  if (items.at(-1) === "") items.pop();
  return items;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", "\\": "\\" };

function characterOf(delimiter: string | undefined): string | undefined {
  const text = delimiter?.replace(/\\(.)/g, (whole, letter: string) => escapes[letter] ?? whole);
  if (text !== undefined && text.length !== 1) throw new Error(`-d: '${delimiter}' is not one character`);
  return text;
}

/** Words between blanks, or all as one; quotes and backslashes as in a shell. @throws Error for a quote without its end */
function wordsOf(text: string, splits = true): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const parts = text.matchAll(/\s+|"([^"\n]*)"|'([^'\n]*)'|\\([\s\S])|(["'])|([^\s"'\\]+|\\$)/g);
  for (const [whole, double, single, escaped, open, plain] of parts) {
    if (open !== undefined) throw new Error(`unmatched ${open === '"' ? "double" : "single"} quote; see -0`);
    const piece = double ?? single ?? escaped ?? plain ?? (splits ? undefined : whole);
    if (piece !== undefined) word = (word ?? "") + piece;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

function count(options: ReadonlyMap<string, string>, letter: string, otherwise: number): number {
  const text = options.get(letter);
  if (text === undefined) return otherwise;
  const least = letter === "P" ? 0 : 1;
  if (!/^\d+$/.test(text) || Number(text) < least) throw new Error(`invalid number for -${letter}: '${text}'`);
  return Number(text);
}

/** Runs them in their order, so many at one time. */
async function runAll(
  lines: readonly (readonly string[])[],
  atOnce: number,
  tells: boolean,
  context: ResolvedCommandContext,
): Promise<ExecResult> {
  const state = stateOf(context);
  const own = { routes: routesOf(state) };
  const rest: ExecResult[] = [];
  let exitCode = 0;
  for (let start = 0; start < lines.length && !state.signal?.aborted; start += atOnce) {
    const group = lines.slice(start, start + atOnce);
    const told = tells ? group.map((line) => `${line.join(" ")}\n`).join("") : "";
    rest.push(letOut(own, { stdout: "", stderr: told, exitCode: 0 }));
    const results = await Promise.all(group.map((line) => runCommand(context, line, { stdin: "" })));
    for (const result of results) {
      rest.push(letOut(own, result));
      exitCode = Math.max(exitCode, statusOf(result.exitCode));
    }
    if (results.some((result) => [124, 126, 127].includes(statusOf(result.exitCode)))) break;
  }
  return {
    stdout: rest.map(({ stdout }) => stdout).join(""),
    stderr: rest.map(({ stderr }) => stderr).join(""),
    exitCode,
  };
}

/** What a command's end makes of that of xargs. */
function statusOf(exitCode: number): number {
  if (exitCode === 0 || exitCode === 126 || exitCode === 127) return exitCode;
  return exitCode === 255 ? 124 : 123;
}
