import { randomBytes } from "node:crypto";
import { exitStatus, type Sandbox, SandboxError } from "@sandkit/core";
import type { Invocation } from "../command.js";
import { parsePairs } from "../pairs.js";
import { reportError } from "../report-error.js";
import { Interrupts } from "../run/interrupts.js";
import { ProgramRun, type RunSettings } from "../run/program-run.js";
import { resultAsJson } from "../run/result-as-json.js";
import { parseSeconds } from "../seconds.js";
import { UsageError } from "../usage-error.js";
import { connect, referenceOf } from "./find-sandbox.js";
import { guestScript } from "./guest-script.js";

/** `sandkit exec`: one program in a living sandbox; resolves with the exit code. */
export async function execLive(invocation: Invocation): Promise<number> {
  const { values, rest } = invocation;
  const reference = referenceOf(invocation, "sandkit exec REF COMMAND…");
  if (rest.length === 0) {
    throw new UsageError("no command is given", [
      { text: "name one", command: `sandkit exec ${reference} ls -l` },
      { text: "open a shell", command: `sandkit shell ${reference}` },
    ]);
  }
  const timeoutMs = parseSeconds("timeout", values.timeout);
  const settings = { timeoutMs, json: values.json === true, quiet: values.quiet === true };
  const options = placeOf(invocation);
  const interrupts = new Interrupts("the program");
  try {
    const { sandbox } = await connect(values, reference, interrupts.creation);
    if (values.detach) return await detach(sandbox, rest, options, settings.json);
    return await attached(sandbox, rest, options, settings, interrupts);
  } catch (error) {
    if (interrupts.exitCode !== undefined) return interrupts.exitCode;
    if (!(error instanceof SandboxError) || error.code === "INVALID") throw error;
    reportError(error, settings.json);
    return 125;
  } finally {
    interrupts[Symbol.dispose]();
  }
}

/** Where a program starts, and as whom. */
export interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: string;
}

/** Of `--cwd`, `--env` and `--user`. @throws UsageError */
export function placeOf({ values, every }: Invocation): Place {
  return {
    ...(typeof values.cwd === "string" && { cwd: values.cwd }),
    ...(typeof values.user === "string" && { user: values.user }),
    ...(every.env && { env: parsePairs("env", every.env) }),
  };
}

async function attached(
  sandbox: Sandbox,
  command: readonly string[],
  place: Place,
  settings: RunSettings,
  interrupts: Interrupts,
): Promise<number> {
  const result = await new ProgramRun(sandbox, settings, interrupts).program(command, undefined, place);
  const exitCode = interrupts.exitCode ?? exitStatus(result);
  if (settings.json) process.stdout.write(`${JSON.stringify(resultAsJson(result, exitCode, sandbox))}\n`);
  return exitCode;
}

/** Started, and left to itself: `sandkit logs` has what it prints. */
async function detach(sandbox: Sandbox, command: readonly string[], place: Place, json: boolean): Promise<number> {
  const program = randomBytes(4).toString("hex");
  const result = await sandbox.exec(["sh", "-c", guestScript("detach.sh"), "detach", program, ...command], place);
  if (!result.ok) {
    process.stderr.write(result.stderr.bytes);
    return exitStatus(result);
  }
  process.stdout.write(json ? `${JSON.stringify({ program, ref: sandbox.ref })}\n` : `${program}\n`);
  if (!json && process.stderr.isTTY)
    process.stderr.write(`next: sandkit logs --follow ${sandbox.ref.id.slice(0, 8)} ${program}\n`);
  return 0;
}
