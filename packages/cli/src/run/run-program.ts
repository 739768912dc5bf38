import { Readable } from "node:stream";
import { createSandbox, type ExecResult, exitStatus, type Sandbox, SandboxError } from "@sandkit/core";
import { chooseProvider, type ProviderChoice } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { withProgress } from "../progress.js";
import { reportError } from "../report-error.js";
import { UsageError } from "../usage-error.js";
import { Interrupts } from "./interrupts.js";
import { passOutput } from "./output.js";
import { type Program, readProgram } from "./program.js";

/** `sandkit run`: one program in one sandbox; resolves with the exit code. */
export async function runProgram(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const timeoutMs = parseTimeout(values.timeout);
  const program = await readProgram(invocation);
  const interrupts = new Interrupts();
  try {
    const choice = await chooseProvider(values);
    const settings = { timeoutMs, json: values.json === true, quiet: values.quiet === true };
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
  const creation = createSandbox(provider, { ...defaults, signal: interrupts.creation });
  const quiet = settings.quiet || settings.json;
  const sandbox = await withProgress(`starting a sandbox (${provider.name})`, quiet, creation);
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

function parseTimeout(value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  if (seconds > 0 && seconds <= 2_000_000) return seconds * 1000;
  throw new UsageError(`option "--timeout" cannot be "${value}"`, [
    { text: "a number of seconds above 0: --timeout 30" },
  ]);
}
