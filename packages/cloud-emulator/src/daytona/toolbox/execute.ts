import type { CodeRunRequest, ExecuteRequest } from "@daytona/toolbox-api-client";
import { type BoxProcess, BoxStartError } from "../../box-process.js";
import type { EmulatedBox } from "../../emulated-box.js";
import { daemonFailure } from "../api-failure.js";
import { exitCodeOf, killGroup } from "./run.js";

interface Script {
  readonly argv: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** In seconds; none or 0: no limit. */
  readonly timeout: number | undefined;
}

/** What both ways to run something at once answer. */
export interface Executed {
  readonly exitCode: number;
  readonly result: string;
}

/** `POST /process/execute`: a command read by a shell from its input, its output and errors in one. */
export function execute(
  box: EmulatedBox,
  request: ExecuteRequest & { readonly cwd: string },
  env: Readonly<Record<string, string>>,
): Promise<Executed> {
  const { command, cwd, timeout } = request;
  // The script is its own input: what reads stdin reads the rest of it.
  return runScript(box, { argv: ["bash"], input: `${command}\n`, cwd, env, timeout });
}

const interpreters: Readonly<Record<string, readonly string[]>> = {
  python: ["python3", "-u", "-"],
  javascript: ["node", "-"],
  typescript: ["node", "--experimental-strip-types", "--no-warnings", "--input-type=module-typescript", "-"],
};

/** `POST /process/code-run`: code run by a fresh interpreter. */
export function runCode(
  box: EmulatedBox,
  { code, language, argv = [], timeout }: CodeRunRequest,
  env: Readonly<Record<string, string>>,
): Promise<Executed> {
  const interpreter = interpreters[language];
  if (!interpreter) throw daemonFailure(400, `unsupported language: ${language}`);
  return runScript(box, { argv: [...interpreter, ...argv], input: code, cwd: box.home, env, timeout });
}

async function runScript(box: EmulatedBox, script: Script): Promise<Executed> {
  const { argv, cwd, env, timeout } = script;
  if (timeout !== undefined && timeout < 0) throw daemonFailure(400, "timeout must not be negative");
  let process: BoxProcess;
  try {
    // Into a group of its own, by which a deadline ends it, and with one pipe for both of its outputs.
    process = await box.start({ argv: ["setsid", "sh", "-c", 'exec "$@" 2>&1', "sh", ...argv], cwd, env, stdin: true });
  } catch (error) {
    if (!(error instanceof BoxStartError)) throw error;
    return { exitCode: -1, result: error.message };
  }
  const chunks: Buffer[] = [];
  let timedOut = false;
  const timer = timeout ? setTimeout(expire, timeout * 1_000) : undefined;
  function expire(): void {
    timedOut = true;
    // Whether it worked is seen by the end of the program, which is waited for.
    killGroup(box, process).catch(() => undefined);
  }
  const fed = process.write(Buffer.from(script.input)).then(() => process.closeStdin());
  try {
    for await (const { bytes } of process.output()) chunks.push(bytes);
    await fed;
  } finally {
    clearTimeout(timer);
  }
  if (timedOut) throw daemonFailure(408, "command execution timeout", "PROCESS_EXECUTION_TIMEOUT");
  return { exitCode: exitCodeOf(await process.exited), result: Buffer.concat(chunks).toString("utf8") };
}
