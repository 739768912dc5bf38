import { readFileSync } from "node:fs";
import type { CommandSpec, Invocation } from "../command.js";
import { printable } from "../printable.js";
import { UsageError } from "../usage-error.js";
import { complete } from "./complete.js";

/** `sandkit completion`: the script for a shell, or, as that script asks, the candidates for words. */
export async function printCompletion(
  commands: readonly CommandSpec[],
  { positionals: [shell], rest }: Invocation,
): Promise<number> {
  if (shell === undefined || !["bash", "zsh", "fish"].includes(shell)) {
    const what = shell === undefined ? "no shell is named" : `there is no completion for "${shell}"`;
    throw new UsageError(what, [{ text: "one of bash, zsh, fish", command: "source <(sandkit completion bash)" }]);
  }
  if (rest.length === 0) {
    process.stdout.write(readFileSync(new URL(`./completion/sandkit.${shell}`, import.meta.url)));
    return 0;
  }
  // zsh takes a colon for the end of the word.
  const separator = shell === "zsh" ? ":" : "\t";
  for (const [word, about] of await complete(commands, rest))
    process.stdout.write(`${word}${about && separator}${printable(about)}\n`);
  return 0;
}
