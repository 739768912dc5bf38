import { messageOf, SandboxError } from "@sandkit/core";
import type { InstalledRecord, OutputStream } from "../protocol.js";
import { brief } from "./brief.js";
import { type PipArguments, PipUsageError, parseArguments, splitCommand } from "./pip-arguments.js";
import { collectRequirements } from "./pip-requirements.js";
import { brokenNeeds, listText, showText } from "./pip-tell.js";
import { normalizeName } from "./requirement.js";
import type { SandboxPackages } from "./sandbox-packages.js";

/** What `pip` works on. */
export interface PipContext {
  readonly packages: SandboxPackages;
  readonly write: (stream: OutputStream, text: string) => void;
  /** The text of a file in the sandbox, for `-r`. @throws SandboxError `TOO_LARGE` */
  readonly readText: (path: string) => Promise<string>;
  readonly signal?: AbortSignal | undefined;
}

const usage = `usage: pip install [-q] [-U] [--force-reinstall] [-r FILE] PACKAGE...
       pip uninstall [-y] [-r FILE] PACKAGE...
       pip list [--format columns|freeze|json]
       pip freeze | check | show PACKAGE... | --version
Packages are chosen, fetched and verified outside this sandbox, as wheels for WebAssembly or of plain Python.
`;

/** Of the arguments, in characters: guests choose them, and the caller's process reads them. */
const longestArguments = 64 * 1024;
const mostShown = 200;

type Run = (args: PipArguments, context: PipContext) => Promise<number>;

const commands: Readonly<Record<string, Run>> = { install, uninstall, list, freeze, show, check };

/**
 * Runs `pip` with these arguments and gives its exit code. What goes wrong is told on stderr.
 * @throws the reason of the signal when that is aborted
 */
export async function runPip(args: readonly string[], context: PipContext): Promise<number> {
  try {
    return await run(args, context);
  } catch (error) {
    context.signal?.throwIfAborted();
    const isUsage = error instanceof PipUsageError;
    if (!isUsage && !(error instanceof SandboxError)) throw error;
    context.write("stderr", `ERROR: ${messageOf(error)}\n${isUsage ? usage : ""}`);
    return isUsage ? 2 : 1;
  }
}

async function run(args: readonly string[], context: PipContext): Promise<number> {
  if (args.reduce((sum, { length }) => sum + length + 1, 0) > longestArguments) {
    throw new PipUsageError(`the arguments are longer than ${longestArguments} characters: use -r FILE`);
  }
  const { command = "help", rest } = splitCommand(args);
  if (command === "help" && (rest.includes("--version") || rest.includes("-V"))) {
    context.write("stdout", `pip of sandkit (python 3.14)\n`);
    return 0;
  }
  const action = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (command !== "help" && !action) {
    throw new PipUsageError(`pip ${brief(command)} is not available in this sandbox`);
  }
  const parsed = parseArguments(command, rest);
  if (!action || parsed.flags.has("--help")) {
    context.write("stdout", usage);
    return 0;
  }
  warn(parsed.warnings, context);
  return action(parsed, context);
}

async function install({ words, flags, values }: PipArguments, context: PipContext): Promise<number> {
  const names = await collectRequirements(words, values.get("--requirement") ?? [], context.readText);
  if (names.length === 0) throw new PipUsageError("pip install needs a package");
  const isQuiet = flags.has("--quiet");
  const say = (text: string) => {
    if (!isQuiet) context.write("stdout", `${text}\n`);
  };
  const installed = await context.packages.add(names, {
    upgrade: flags.has("--upgrade"),
    reinstall: flags.has("--force-reinstall"),
    signal: context.signal,
    onProgress: say,
  });
  const made = installed.map(({ name, version }) => `${name}-${version}`).sort();
  say(made.length > 0 ? `Successfully installed ${made.join(" ")}` : "Requirements already satisfied");
  return 0;
}

async function uninstall({ words, values }: PipArguments, context: PipContext): Promise<number> {
  const names = await collectRequirements(words, values.get("--requirement") ?? [], context.readText);
  if (names.length === 0) throw new PipUsageError("pip uninstall needs a package");
  for (const text of names) {
    const name = /^[\w.-]+/.exec(text)?.[0] ?? text;
    if (await context.packages.remove(name, context.signal)) {
      context.write("stdout", `Successfully uninstalled ${normalizeName(name)}\n`);
    } else {
      warn([`Skipping ${brief(name)} as it is not installed.`], context);
    }
  }
  return 0;
}

async function list({ words, values }: PipArguments, context: PipContext): Promise<number> {
  if (words.length > 0) throw new PipUsageError("pip list takes no names: use pip show");
  const format = values.get("--format")?.at(-1) ?? "columns";
  context.write("stdout", listText(await installed(context), format));
  return 0;
}

async function freeze({ words }: PipArguments, context: PipContext): Promise<number> {
  if (words.length > 0) throw new PipUsageError("pip freeze takes no names: use pip show");
  context.write("stdout", listText(await installed(context), "freeze"));
  return 0;
}

async function show({ words }: PipArguments, context: PipContext): Promise<number> {
  if (words.length === 0) throw new PipUsageError("pip show needs a package");
  if (words.length > mostShown) throw new PipUsageError(`pip show takes ${mostShown} names at the most`);
  const { text, missing } = await showText(await installed(context), words, await context.packages.environment());
  if (missing.length > 0) warn([`Package(s) not found: ${missing.map(brief).join(", ")}`], context);
  context.write("stdout", text);
  return text === "" ? 1 : 0;
}

async function check(_: PipArguments, context: PipContext): Promise<number> {
  const broken = await brokenNeeds(await installed(context), await context.packages.environment());
  const lines = broken.length > 0 ? broken : ["No broken requirements found."];
  context.write("stdout", `${lines.join("\n")}\n`);
  return broken.length > 0 ? 1 : 0;
}

async function installed(context: PipContext): Promise<readonly InstalledRecord[]> {
  const { packages, warnings } = await context.packages.list();
  warn(warnings, context);
  return packages;
}

function warn(warnings: readonly string[], { write }: PipContext): void {
  for (const warning of warnings) write("stderr", `WARNING: ${warning}\n`);
}
