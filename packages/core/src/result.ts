import { SandboxError } from "./errors.js";
import type { ExecResult } from "./exec.js";

/** Adds what is derived to the facts of a run. */
export function execResult(
  facts: Omit<ExecResult, "ok" | "orThrow">,
  command: readonly string[] | string,
  provider: string,
): ExecResult {
  const result: ExecResult = {
    ...facts,
    ok: facts.reason === "exited" && facts.exitCode === 0,
    orThrow() {
      if (result.ok) return result;
      throw new SandboxError("COMMAND_FAILED", failureMessage(result, command), {
        provider,
        operation: "exec",
        result,
      });
    },
  };
  return result;
}

function failureMessage(result: ExecResult, command: readonly string[] | string): string {
  const shown = typeof command === "string" ? command : JSON.stringify(command);
  const said = result.stderr.text.trim() || result.stdout.text.trim();
  const end = said ? `: ${said.slice(-2000)}` : "";
  return `${describeEnd(result)}: ${shown.slice(0, 200)}${end}`;
}

/** How a run ended, in words: `exited with 2`, `timed out`, `was ended by SIGKILL`. */
function describeEnd(result: Pick<ExecResult, "reason" | "exitCode" | "signal">): string {
  switch (result.reason) {
    case "exited":
      return `exited with ${result.exitCode}`;
    case "signaled":
      return `was ended by ${result.signal ?? "a signal"}`;
    case "timeout":
      return "timed out";
    case "aborted":
      return "was aborted";
    case "output_limit":
      return "wrote more than its output limit";
    case "oom":
      return "ran out of memory";
  }
}

/** Numbers of the signals that the usual programs end by, as on Linux. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGSYS: 31,
};

/**
 * One number for those who need one: the exit code; 128 plus the signal's number; 124 for a timeout; 137 out of
 * memory; 130 aborted; 125 at the output limit.
 */
export function exitStatus(result: Pick<ExecResult, "reason" | "exitCode" | "signal">): number {
  switch (result.reason) {
    case "exited":
      return result.exitCode ?? 125;
    case "signaled":
      return 128 + (signalNumbers[result.signal ?? ""] ?? 9);
    case "timeout":
      return 124;
    case "oom":
      return 137;
    case "aborted":
      return 130;
    case "output_limit":
      return 125;
  }
}
