import { type Run, runCommand } from "./nested.js";
import { readOptions } from "./read-options.js";

const names = { "ignore-environment": "i", null: "0", unset: "u" };

/** `env`: a command with another environment, or what programs are given. */
export const env: Run = async (args, context) => {
  const environment = new Map(Object.entries(context.exportedEnv ?? {}));
  const { options, operands } = readEach(args, environment);
  const command = operands.findIndex((operand) => !operand.includes("="));
  for (const assignment of command < 0 ? operands : operands.slice(0, command)) {
    const equals = assignment.indexOf("=");
    environment.set(assignment.slice(0, equals), assignment.slice(equals + 1));
  }
  if (command >= 0) {
    return runCommand(context, operands.slice(command), { environment: Object.fromEntries(environment) });
  }
  return { stdout: shown(environment, options), stderr: "", exitCode: 0 };
};

/** `printenv`, of the same. */
export const printenv: Run = async (args, context) => {
  const { options, operands } = readOptions(args, { letters: "0", names: { null: "0" } });
  const all = new Map(Object.entries(context.exportedEnv ?? {}));
  if (operands.length === 0) return { stdout: shown(all, options), stderr: "", exitCode: 0 };
  const found = operands.flatMap((name) => all.get(name) ?? []);
  const stdout = found.map((value) => `${value}${separator(options)}`).join("");
  return { stdout, stderr: "", exitCode: found.length === operands.length ? 0 : 1 };
};

type Options = ReturnType<typeof readOptions>["options"];

/** Reads the options, and takes out what they take out: `-u` may come more than once. */
function readEach(args: readonly string[], environment: Map<string, string>) {
  const read = readOptions(args[0] === "-" ? ["-i", ...args.slice(1)] : args, {
    letters: "i0u:",
    names,
    inOrder: true,
  });
  if (read.options.has("i")) environment.clear();
  const given = args.slice(0, args.length - read.operands.length);
  for (const [index, arg] of given.entries()) {
    const name =
      /^(?:-u|--unset=)(.+)$/.exec(arg)?.[1] ?? (/^(?:-u|--unset)$/.test(arg) ? given[index + 1] : undefined);
    if (name !== undefined) environment.delete(name);
  }
  return read;
}

function shown(environment: ReadonlyMap<string, string>, options: Options): string {
  return Array.from(environment, ([name, value]) => `${name}=${value}${separator(options)}`).join("");
}

function separator(options: Options): string {
  return options.has("0") ? "\0" : "\n";
}
