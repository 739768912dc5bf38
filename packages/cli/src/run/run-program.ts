import { type CreateOptions, exitStatus, type Provider, SandboxError } from "@sandkit/core";
import { chooseProvider } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { parsePairs } from "../pairs.js";
import { withProgress } from "../progress.js";
import { again, reportError } from "../report-error.js";
import { parseSeconds } from "../seconds.js";
import type { Fix } from "../usage-error.js";
import { createOrUndo } from "./create-or-undo.js";
import { findTool } from "./find-tool.js";
import { Interrupts } from "./interrupts.js";
import { type Program, readProgram } from "./program.js";
import { ProgramRun, type RunSettings } from "./program-run.js";
import { resultAsJson } from "./result-as-json.js";
import { withStartingImage } from "./starting-image.js";

/** `sandkit run`: one program in one sandbox; resolves with the exit code. */
export async function runProgram(invocation: Invocation): Promise<number> {
  const { values, every } = invocation;
  const timeoutMs = parseSeconds("timeout", values.timeout);
  const program = await readProgram(invocation);
  const interrupts = new Interrupts();
  try {
    const choice = await chooseProvider(values);
    const image = withStartingImage(choice.provider, choice.defaults, values, program.language);
    const asked = withHosts(withPackages(image, every.with ?? []), every.allow ?? []);
    const options = { ...asked, ...(every.label && { labels: parsePairs("label", every.label) }) };
    const settings = { timeoutMs, json: values.json === true, quiet: values.quiet === true };
    return await runOn(choice.provider, options, program, settings, interrupts);
  } catch (error) {
    const left = error instanceof SandboxError && error.operation === "destroy";
    if (interrupts.exitCode !== undefined && !left) return interrupts.exitCode;
    if (!(error instanceof SandboxError) || error.code === "INVALID") throw error;
    reportError(error, values.json === true, (failure) => waysOf(failure, program));
    return interrupts.exitCode ?? 125;
  } finally {
    interrupts[Symbol.dispose]();
  }
}

function withPackages(options: CreateOptions, packages: readonly string[]): CreateOptions {
  return packages.length === 0 ? options : { ...options, packages: [...(options.packages ?? []), ...packages] };
}

/** Beside those of the config's list; any other policy of it gives way to what is asked for here. */
function withHosts(options: CreateOptions, hosts: readonly string[]): CreateOptions {
  if (hosts.length === 0) return options;
  const listed = typeof options.network === "object" ? options.network.allow : [];
  return { ...options, network: { allow: [...listed, ...hosts] } };
}

async function runOn(
  provider: Provider,
  options: CreateOptions,
  program: Program,
  settings: RunSettings,
  interrupts: Interrupts,
): Promise<number> {
  const quiet = settings.quiet || settings.json;
  const sandbox = await withProgress(`starting a sandbox (${provider.name})`, quiet, (onProgress) =>
    createOrUndo(provider, { ...options, onProgress, signal: interrupts.creation }),
  );
  try {
    const tool = await findTool(sandbox, program.language, provider);
    if (program.file) await sandbox.files.write(program.file.name, program.file.code);
    const run = new ProgramRun(sandbox, settings, interrupts);
    const compiled = program.compile && (await run.compile(program.compile(tool)));
    const result = compiled?.ok === false ? compiled : await run.program(program.command(tool), program.stdin);
    const exitCode = interrupts.exitCode ?? exitStatus(result);
    if (settings.json) process.stdout.write(`${JSON.stringify(resultAsJson(result, exitCode, sandbox))}\n`);
    return exitCode;
  } finally {
    await sandbox.destroy();
  }
}

function waysOf({ code, provider }: SandboxError, { language }: Program): readonly Fix[] {
  // Its sandbox was its own: the next run has another.
  if (code === "SANDBOX_LOST") return [again];
  if (code !== "UNAVAILABLE" || provider === "wasm") return [];
  // WebAssembly needs no engine, and has no more than these.
  if (!language.tools.includes("python3") && !language.tools.includes("node")) return [];
  return [{ text: "use WebAssembly, which needs no engine", command: "sandkit run --provider wasm …" }];
}
