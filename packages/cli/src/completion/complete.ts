import type { CommandSpec, Invocation, OptionSpec } from "../command.js";
import { tokensOf } from "../parse-command-line.js";

/** A word that may stand where the cursor is, and what it means. */
export type Candidate = readonly [word: string, about: string];

/**
 * What the last of these words can become; nothing where it may be a file, or cannot be known.
 * @param words After `sandkit`. Of Bash, the `=` of an option is a word of its own.
 */
export async function complete(commands: readonly CommandSpec[], words: readonly string[]): Promise<Candidate[]> {
  const before = words.slice(0, -1).filter((word) => word !== "=");
  const last = words.at(-1) ?? "";
  const written = last === "=" ? "" : last;
  const candidates = await following(commands, before, written);
  return candidates.filter(([word]) => word.startsWith(written));
}

async function following(
  commands: readonly CommandSpec[],
  [name, ...args]: readonly string[],
  written: string,
): Promise<Candidate[]> {
  if (name === undefined) return commands.map((command) => [command.name, command.summary]);
  const command = commands.find((candidate) => candidate.name === name);
  if (!command || args.includes("--")) return [];
  const positionals: string[] = [];
  const values: Record<string, string | true> = {};
  let awaiting: string | undefined;
  for (const token of tokensOf(command, args)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    values[token.name] = token.value ?? true;
    awaiting = token.value === undefined && command.options[token.name]?.value ? token.name : undefined;
  }
  if (awaiting !== undefined) return valuesOf(command.options[awaiting]);
  if (positionals.length >= (command.restAfter ?? Infinity)) return [];
  const [start, option = ""] = /^--([^=]+)=/.exec(written) ?? [];
  if (start) return valuesOf(command.options[option]).map(([word, about]) => [start + word, about]);
  if (written.startsWith("-")) return optionsLeft(command, values);
  return await argumentsLeft(command, positionals, values);
}

function valuesOf({ choices = [], suggestions = choices }: Partial<OptionSpec> = {}): Candidate[] {
  return suggestions.map((word) => [word, ""]);
}

function optionsLeft({ options }: CommandSpec, given: Invocation["values"]): Candidate[] {
  const left = Object.entries(options).filter(([name, { repeatable }]) => repeatable || given[name] === undefined);
  return left.map(([name, { description }]) => [`--${name}`, description]);
}

async function argumentsLeft(
  { argument }: CommandSpec,
  given: readonly string[],
  values: Invocation["values"],
): Promise<Candidate[]> {
  if (!argument || (given.length > 0 && !argument.repeatable)) return [];
  const known =
    argument.from === "sandboxes" ? await sandboxes(values) : argument.from.map((word) => [word, ""] as const);
  return known.filter(([word]) => !given.includes(word));
}

/** Of each living sandbox its name, else its id. */
async function sandboxes(values: Invocation["values"]): Promise<Candidate[]> {
  // Of all candidates, these alone need a provider.
  const { chooseProvider } = await import("../choose-provider.js");
  const { livingOf } = await import("../live/find-sandbox.js");
  const { provider } = await chooseProvider(values);
  const living = await livingOf(provider);
  const candidates = living.map(({ ref, name }): Candidate => [name ?? ref.id, name === undefined ? "" : ref.id]);
  // What comes from outside and would be more than a word to a shell is not put on anybody's command line.
  return candidates.filter(([word]) => /^[\w.-]+$/.test(word) && !word.startsWith("-"));
}
