import { messageOf, SandboxError } from "@sandkit/core";
import type { OutputStream } from "../protocol.js";
import { parseRequirement } from "./requirement.js";
import type { SandboxPackages } from "./sandbox-packages.js";

/** What `pip` works on. */
export interface PipContext {
  readonly packages: SandboxPackages;
  readonly write: (stream: OutputStream, text: string) => void;
  /** The text of a file in the sandbox, for `-r`. */
  readonly readText: (path: string) => Promise<string>;
  readonly signal?: AbortSignal | undefined;
}

const usage = `usage: pip install [-q] [-U] [-r FILE] PACKAGE...
       pip uninstall [-y] PACKAGE...
       pip list | freeze | show PACKAGE... | --version
Packages are chosen, fetched and verified outside this sandbox, as wheels for WebAssembly or of plain Python.
`;

/** Options that ask for what is so anyway, or for nothing that there is here. */
const harmless: ReadonlySet<string> = new Set([
  ...["--quiet", "-q", "-qq", "-v", "--verbose", "--user", "--no-input", "--no-cache-dir", "--prefer-binary"],
  ...[
    "--break-system-packages",
    "--disable-pip-version-check",
    "--no-warn-script-location",
    "--no-color",
    "-y",
    "--yes",
  ],
  ...["--isolated", "--no-compile", "--compile", "--no-python-version-warning"],
]);
const harmlessWithValue = new Set(["--progress-bar", "--root-user-action", "--only-binary", "--retries", "--timeout"]);

class UsageError extends Error {}

/** Whether a command is `pip`, by whatever name, and its arguments; undefined when it is another. */
export function pipArguments([program = "", ...args]: readonly string[]): readonly string[] | undefined {
  const name = program.replace(/^(?:\/usr(?:\/local)?)?\/bin\//, "");
  if (/^pip(?:3(?:\.14)?)?$/.test(name)) return args;
  const isPython = /^python(?:3(?:\.14)?)?$/.test(name);
  return isPython && args[0] === "-m" && args[1] === "pip" ? args.slice(2) : undefined;
}

/** Runs `pip` with these arguments and gives its exit code. What goes wrong is told on stderr. */
export async function runPip(args: readonly string[], context: PipContext): Promise<number> {
  try {
    return await run(args, context);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SandboxError)) {
      context.signal?.throwIfAborted();
      throw error;
    }
    context.write("stderr", `ERROR: ${messageOf(error)}\n${error instanceof UsageError ? usage : ""}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run([command, ...args]: readonly string[], context: PipContext): Promise<number> {
  switch (command) {
    case "install":
      return install(args, context);
    case "uninstall":
      return uninstall(args, context);
    case "list":
    case "freeze":
      return list(command, context);
    case "show":
      return show(args, context);
    case "--version":
    case "-V":
      context.write("stdout", "pip of sandkit (python 3.14)\n");
      return 0;
    case undefined:
    case "help":
    case "--help":
    case "-h":
      context.write("stdout", usage);
      return 0;
    default:
      throw new UsageError(`pip ${command} is not available in this sandbox`);
  }
}

async function install(args: readonly string[], context: PipContext): Promise<number> {
  const { names, flags, files } = parse(args);
  for (const file of files) names.push(...(await requirementsIn(file, context)));
  if (names.length === 0) throw new UsageError("pip install needs a package");
  const path = names.find((name) => /^[./]|:\/\/|\.(?:whl|zip|tar\.gz)$/.test(name));
  if (path !== undefined) throw new UsageError(`${path}: packages come by name here, not from files or addresses`);
  const isQuiet = flags.some((flag) => /^-q+$|^--quiet$/.test(flag));
  const installed = await context.packages.add(names, {
    upgrade: flags.some((flag) => ["-U", "--upgrade", "--force-reinstall"].includes(flag)),
    signal: context.signal,
    onProgress: (message) => {
      if (!isQuiet) context.write("stdout", `${message}\n`);
    },
  });
  if (isQuiet) return 0;
  const made = installed.map(({ name, version }) => `${name}-${version}`).sort();
  const done = made.length > 0 ? `Successfully installed ${made.join(" ")}` : "Requirements already satisfied";
  context.write("stdout", `${done}\n`);
  return 0;
}

async function uninstall(args: readonly string[], { packages, write }: PipContext): Promise<number> {
  const { names } = parse(args);
  if (names.length === 0) throw new UsageError("pip uninstall needs a package");
  for (const name of names) {
    const removed = await packages.remove(name);
    write(removed ? "stdout" : "stderr", removed ? `Successfully uninstalled ${name}\n` : `${name} is not installed\n`);
  }
  return 0;
}

async function list(style: "list" | "freeze", { packages, write }: PipContext): Promise<number> {
  const installed = await packages.list();
  const lines = installed.map(({ name, version }) =>
    style === "freeze" ? `${name}==${version}` : `${name} ${version}`,
  );
  write("stdout", lines.map((line) => `${line}\n`).join(""));
  return 0;
}

async function show(args: readonly string[], { packages, write }: PipContext): Promise<number> {
  const installed = await packages.list();
  let exitCode = 0;
  for (const name of parse(args).names) {
    const found = installed.find((each) => each.name === parseRequirementName(name));
    if (found) write("stdout", `Name: ${found.name}\nVersion: ${found.version}\n`);
    else write("stderr", `WARNING: package ${name} is not installed\n`);
    if (!found) exitCode = 1;
  }
  return exitCode;
}

function parseRequirementName(text: string): string {
  try {
    return parseRequirement(text).name;
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

interface Parsed {
  readonly names: string[];
  readonly flags: string[];
  readonly files: string[];
}

function parse(args: readonly string[]): Parsed {
  const parsed: Parsed = { names: [], flags: [], files: [] };
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [name = "", value] = word.startsWith("--") ? word.split(/=(.*)/s) : [word];
    if (!word.startsWith("-")) parsed.names.push(word);
    else if (name === "-r" || name === "--requirement") parsed.files.push(value ?? rest.shift() ?? "");
    else if (harmlessWithValue.has(name)) value ?? rest.shift();
    else if (harmless.has(name) || ["-U", "--upgrade", "--force-reinstall"].includes(name)) parsed.flags.push(name);
    else throw new UsageError(`pip's option ${name} is not available in this sandbox: the host chooses the index`);
  }
  return parsed;
}

async function requirementsIn(path: string, context: PipContext): Promise<string[]> {
  const text = await context.readText(path);
  const lines = text.split(/\r?\n/).map((line) => line.replace(/(?:^|\s)#.*$/, "").trim());
  const option = lines.find((line) => line.startsWith("-"));
  if (option !== undefined)
    throw new UsageError(`${path}: ${option}: options in a file of requirements are not available`);
  return lines.filter((line) => line !== "");
}
