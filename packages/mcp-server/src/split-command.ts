import type { SandboxError } from "@sandkit/core";
import { parse } from "shell-quote";
import { invalid } from "./result/error-result.js";

const quoted = /\\.|'[^']*'|"(?:[^"\\]|\\.)*"/gs;
const substitution = /(?:^|[^\\])(?:`|\$\()/;

/**
 * Splits a command line into words for a sandbox without a shell. Only quoting is understood.
 * @throws SandboxError `INVALID` for whatever needs a shell, naming it and the other way to do it
 */
export function splitCommand(command: string): string[] {
  const bare = command.replaceAll(quoted, "_");
  if (/["']/.test(bare)) throw refusal("a quote that is not closed", "close it");
  if (/[\n\r]/.test(bare.trim())) throw refusal("a command of several lines", "call exec once for each command");
  if (substitution.test(command.replaceAll(/'[^']*'/gs, "_"))) throw refusal("command substitution");
  if (/(^|\s)~|\{[^}\s]*,[^}\s]*\}|\[[^\]\s]*\]/.test(bare))
    throw refusal("a path with ~, {a,b} or [a-z]", "spell the paths out");
  const words = parse(command, (name) => ({ op: `$${name}` })).map((word) => {
    if (typeof word === "string") return word;
    if ("comment" in word) throw refusal("#", "quote the word, or leave the comment out");
    if (word.op === "glob") throw refusal("a wildcard", "name the files, or match them in code with run_code");
    if (word.op.startsWith("$")) throw refusal(`the variable ${word.op}`, "write its value");
    throw refusal(
      `"${word.op}"`,
      "use stdin for input, call exec once for each program, or do it in code with run_code",
    );
  });
  const [first] = words;
  if (first !== undefined && /^\w+=/.test(first)) {
    throw refusal("setting a variable in front of a program", "set it in code with run_code");
  }
  if (first === "cd") throw refusal("cd", "pass cwd");
  return words;
}

function refusal(what: string, instead = "do it in code with run_code"): SandboxError {
  return invalid(
    `exec: this sandbox has no shell, and ${what} needs one: ${instead}. Plain example: python3 main.py "a b"`,
  );
}
