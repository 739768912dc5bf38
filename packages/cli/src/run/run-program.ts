import { Readable } from "node:stream";
import {
  type CreateOptions,
  createSandbox,
  type ExecResult,
  exitStatus,
  type Sandbox,
  SandboxError,
} from "@sandkit/core";
import { chooseProvider, type ProviderChoice } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { withProgress } from "../progress.js";
import { reportError } from "../report-error.js";
import { parseSeconds } from "../seconds.js";
import { Interrupts } from "./interrupts.js";
import { passOutput } from "./output.js";
import { type Program, readProgram } from "./program.js";

/** `sandkit run`: one program in one sandbox; resolves with the exit code. */
export async function runProgram(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const timeoutMs = parseSeconds("timeout", values.timeout);
  const program = await readProgram(invocation);
  const interrupts = new Interrupts();
  try {
    const choice = await chooseProvider(values);
    const settings = { image: imageOf(values), timeoutMs, json: values.json === true, quiet: values.quiet === true };
    return await runOn(choice, program, settings, interrupts);
  } catch (error) {
    if (interrupts.exitCode !== undefined) return interrupts.exitCode;
    if (!(error instanceof SandboxError) || error.code === "INVALID") throw error;
    reportError(error, values.json === true);
    return 125;
  } finally {
    interrupts[Symbol.dispose]();
  }
}

interface RunSettings {
  /** Starting image of the command line, over the config's. */
  readonly image: Pick<CreateOptions, "template" | "image">;
  readonly timeoutMs: number | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

async function runOn(
  { provider, defaults }: ProviderChoice,
  program: Program,
  settings: RunSettings,
  interrupts: Interrupts,
): Promise<number> {
  const quiet = settings.quiet || settings.json;
  const sandbox = await withProgress(`starting a sandbox (${provider.name})`, quiet, (onProgress) =>
    createSandbox(provider, { ...withImage(defaults, settings.image), signal: interrupts.creation, onProgress }),
  );
  try {
    await requireInterpreter(sandbox, program.interpreter);
    if (program.file) await sandbox.files.write(program.file.name, program.file.code);
    const running = await sandbox.spawn(program.command, {
      stdin: program.stdin ?? inputStream(),
      ...(settings.timeoutMs !== undefined && { timeoutMs: settings.timeoutMs }),
      ...(!settings.json && { onOutput: passOutput((error) => interrupts.outputLost(error)) }),
    });
    interrupts.watch(running);
    const result = await running.wait();
    const exitCode = interrupts.exitCode ?? exitStatus(result);
    if (settings.json) process.stdout.write(`${JSON.stringify(toJson(result, exitCode, sandbox))}\n`);
    return exitCode;
  } finally {
    await sandbox.destroy();
  }
}

function imageOf({ template, image }: Invocation["values"]): RunSettings["image"] {
  return {
    ...(typeof template === "string" && { template }),
    ...(typeof image === "string" && { image }),
  };
}

/** What the command line names takes the place of the config's template. */
function withImage({ template, ...defaults }: CreateOptions, image: RunSettings["image"]): CreateOptions {
  const named = image.template !== undefined || image.image !== undefined;
  return { ...defaults, ...(named ? image : template !== undefined && { template }) };
}

/** Refused here, where the choice can be named; the sandbox itself could only say 127. */
async function requireInterpreter(sandbox: Sandbox, interpreter: string): Promise<void> {
  const { shells, interpreters } = await sandbox.info();
  const there = [...shells, ...interpreters];
  if (there.includes(interpreter)) return;
  const { provider } = sandbox.ref;
  throw new SandboxError(
    "UNSUPPORTED",
    `the sandbox has no "${interpreter}"; it has ${there.join(", ") || "no interpreter"}: choose another --language or --provider`,
    { provider, operation: "run" },
  );
}

/** Our stdin, read only as fast as the program reads. */
function inputStream(): ReadableStream<Uint8Array> {
  return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
}

function toJson(result: ExecResult, exitStatus: number, { ref }: Sandbox) {
  const { stdout, stderr, ...ending } = result;
  return {
    ...ending,
    exitStatus,
    stdout: stdout.text,
    stderr: stderr.text,
    totalBytes: { stdout: stdout.totalBytes, stderr: stderr.totalBytes },
    truncated: { stdout: stdout.truncated, stderr: stderr.truncated },
    provider: ref.provider,
  };
}
