import { parseArgs } from "node:util";
import { closest } from "./closest.js";
import type { CommandSpec, Invocation, OptionSpec } from "./command.js";
import { UsageError } from "./usage-error.js";

/**
 * Checks the arguments of one command against its table.
 * @throws UsageError naming the argument and what to write instead
 */
export function parseCommandLine(command: CommandSpec, args: readonly string[]): Invocation {
  const dashes = args.indexOf("--");
  const all = tokensOf(command, dashes < 0 ? args : args.slice(0, dashes));
  const end = endOf(command, all, dashes < 0 ? args.length : dashes);
  const tokens = all.filter(({ index }) => index < end);
  const rest = args.slice(args[end] === "--" ? end + 1 : end);
  const values: Record<string, string | true> = {};
  const every: Record<string, string[]> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const value = checkOption(command, token, values);
    values[token.name] = value;
    if (value !== true) every[token.name] = [...(every[token.name] ?? []), value];
  }
  const extra = positionals[command.maxPositionals];
  if (extra !== undefined) throw tooMany(command, extra);
  if (rest.length > 0 && !command.takesRest) throw tooMany(command, rest[0] ?? "");
  return { values, every, positionals, rest, args };
}

/** The arguments as what they are, right or wrong; an option that lacks its value comes without. */
export function tokensOf({ options }: CommandSpec, args: readonly string[]) {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? ("boolean" as const) : ("string" as const), ...(short && { short }) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return tokens;
}

/** Where the arguments of this program end, and those of another begin. */
function endOf(
  { restAfter }: CommandSpec,
  tokens: readonly { readonly kind: string; readonly index: number }[],
  end: number,
): number {
  if (restAfter === undefined) return end;
  const last = tokens.filter(({ kind }) => kind === "positional")[restAfter - 1];
  return last === undefined ? end : last.index + 1;
}

function checkOption(
  command: CommandSpec,
  token: { readonly name: string; readonly rawName: string; readonly value?: string | undefined },
  seen: Readonly<Record<string, unknown>>,
): string | true {
  const { name, rawName, value } = token;
  const spec: OptionSpec | undefined = Object.hasOwn(command.options, name) ? command.options[name] : undefined;
  if (!spec) {
    const near = closest(name, Object.keys(command.options));
    const guess = near === undefined ? [] : [{ text: `did you mean --${near}?` }];
    throw new UsageError(`unknown option "${rawName}" of sandkit ${command.name}`, [...guess, seeHelp(command)]);
  }
  if (Object.hasOwn(seen, name) && !spec.repeatable) {
    throw new UsageError(`option "${rawName}" is given twice`, [{ text: "give it once" }]);
  }
  if (spec.value === undefined) {
    if (value === undefined) return true;
    throw new UsageError(`option "${rawName}" takes no value, and "${value}" was given`, [
      { text: `write ${rawName}` },
    ]);
  }
  if (value === undefined) {
    throw new UsageError(`option "${rawName}" needs a value`, [{ text: `write ${rawName} ${spec.value}` }]);
  }
  if (spec.choices && !spec.choices.includes(value)) {
    throw new UsageError(`option "${rawName}" cannot be "${value}"`, [{ text: `one of: ${spec.choices.join(", ")}` }]);
  }
  return value;
}

function tooMany(command: CommandSpec, argument: string): UsageError {
  const fix = command.takesRest
    ? { text: "arguments for the program go after --", command: `sandkit ${command.name} FILE -- ${argument}` }
    : seeHelp(command);
  return new UsageError(`unexpected argument "${argument}" of sandkit ${command.name}`, [fix]);
}

function seeHelp(command: CommandSpec) {
  return { text: "all options", command: `sandkit ${command.name} --help` };
}
