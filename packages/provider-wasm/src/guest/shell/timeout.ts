import { signalNumber, signalOf } from "../../signal-numbers.js";
import { type Run, runCommand, stateOf } from "./nested.js";
import { readOptions } from "./read-options.js";

/** Why a command is cancelled: the signal that its programs get. It becomes SIGKILL when `-k` is due. */
export class Cancellation extends Error {
  signal: string;

  constructor(signal: string) {
    super(`ended by ${signal}`);
    this.signal = signal;
  }
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** Longer than that no timer runs. */
const longestMs = 2 ** 31 - 1;
const names = { "kill-after": "k", signal: "s", "preserve-status": "p", foreground: "f", verbose: "v" };

/** `timeout`: what the command has written until then stays. */
export const timeout: Run = async (args, context) => {
  const read = attempt(() => readTimeout(args));
  if ("problem" in read) return { stdout: "", stderr: `timeout: ${read.problem}\n`, exitCode: 125 };
  const { ms, killAfterMs, signal, command, preserve } = read.result;
  const controller = new AbortController();
  const outer = stateOf(context).signal;
  const cancellation = new Cancellation(signal);
  const timers: ReturnType<typeof setTimeout>[] = [];
  const follow = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", follow, { once: true });
  if (outer?.aborted) follow();
  if (ms > 0) {
    timers.push(setTimeout(() => controller.abort(cancellation), Math.min(ms, longestMs)));
    const kill = () => {
      cancellation.signal = "SIGKILL";
    };
    if (killAfterMs > 0) timers.push(setTimeout(kill, Math.min(ms + killAfterMs, longestMs)));
  }
  try {
    const result = await runCommand(context, command, { signal: controller.signal });
    if (controller.signal.reason !== cancellation) return result;
    if (cancellation.signal === "SIGKILL") return { ...result, exitCode: 137 };
    return preserve ? { ...result, exitCode: 128 + (signalNumber(signal) ?? 0) } : { ...result, exitCode: 124 };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    outer?.removeEventListener("abort", follow);
  }
};

function readTimeout(args: readonly string[]) {
  const { options, operands } = readOptions(args, { letters: "k:s:pfv", names, inOrder: true });
  const [duration, ...command] = operands;
  if (duration === undefined || command.length === 0) throw new Error("missing operand");
  return {
    ms: milliseconds(duration),
    killAfterMs: milliseconds(options.get("k") ?? "0"),
    signal: signalName(options.get("s") ?? "TERM"),
    command,
    preserve: options.has("p"),
  };
}

function milliseconds(duration: string): number {
  const [, number = "", unit = "s"] = /^(\d+\.?\d*|\.\d+)([smhd])?$/.exec(duration) ?? [];
  if (number === "") throw new Error(`invalid time interval '${duration}'`);
  return Number(number) * (units[unit] ?? 1) * 1000;
}

function signalName(text: string): string {
  const name = /^\d+$/.test(text) ? signalOf(Number(text)) : `SIG${text.toUpperCase().replace(/^SIG/, "")}`;
  if (name === undefined || signalNumber(name) === undefined) throw new Error(`${text}: invalid signal`);
  return name;
}

function attempt<Result>(run: () => Result): { result: Result } | { problem: string } {
  try {
    return { result: run() };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : "failed" };
  }
}
