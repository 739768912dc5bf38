import type { ExecResult, ResolvedCommandContext } from "just-bash";
import type { Interpreter, JobExit } from "../../protocol.js";
import { signalNumber } from "../../signal-numbers.js";
import { ask, chunkBytes } from "./broker.js";
import { bytesOfLatin1, latin1 } from "./bytes.js";
import { host } from "./globals.js";
import { stateOf } from "./nested.js";
import { type Routes, routesOf } from "./routes.js";
import { Cancellation } from "./timeout.js";

/** What the broker tells of a program, each time it is asked. */
type News = { readonly stream: number; readonly length: number } | { readonly exit: JobExit } | null;

/** How long to wait for news before other commands of the shell, such as `timeout`, get their turn. */
const sliceMs = 25;
/** Output that a pipe or a substitution can hold. */
const largestOutput = 64 * 1024 * 1024;

/** Why one could not be started, in a shell's words. */
const reasons: Readonly<Record<string, string>> = {
  E2BIG: "argument list too long",
  EAGAIN: "too many programs at one time",
  ENOENT: "the working directory is gone",
  ENOTDIR: "the working directory is gone",
};

let running = 0;

/** Programs that commands of this realm wait for. */
export function programsRunning(): number {
  return running;
}

/**
 * Starts an interpreter of this sandbox as a program of its own, or a command of the caller's process, and waits for
 * its end.
 */
export async function runProgram(
  runner: Interpreter | "host",
  argv: readonly string[],
  context: ResolvedCommandContext,
): Promise<ExecResult> {
  const state = stateOf(context);
  const stdin = bytesOfLatin1(context.stdin as unknown as string);
  const started = ask<{ program: number } | { error: string }>("spawn", [
    runner,
    argv,
    { cwd: context.cwd, env: { ...context.exportedEnv } },
    stdin.length > 0,
  ]);
  if ("error" in started) return failed(argv, reasons[started.error] ?? started.error);
  const { program } = started;
  running += 1;
  try {
    for (let done = 0; done < stdin.length; done += chunkBytes) {
      ask("feed", [program], stdin.subarray(done, done + chunkBytes), true);
    }
    if (stdin.length > 0) ask("feed", [program]);
    return await collect(program, argv, routesOf(state), state.signal);
  } finally {
    running -= 1;
  }
}

async function collect(
  program: number,
  argv: readonly string[],
  routes: Routes,
  signal: AbortSignal | undefined,
): Promise<ExecResult> {
  const area = new Uint8Array(chunkBytes);
  const output = { 1: [] as string[], 2: [] as string[] };
  let size = 0;
  let sent: string | undefined;
  let turnAt = host.now() + sliceMs;
  for (;;) {
    const news = ask<News>("collect", [program, sliceMs], area);
    if (news !== null && "exit" in news) {
      const { exitCode, note } = endOf(news.exit, argv);
      const stderr = new TextDecoder().decode(bytesOfLatin1(output[2].join(""))) + note;
      return { stdout: output[1].join(""), stdoutKind: "bytes", stdoutEncoding: "binary", stderr, exitCode };
    }
    if (news !== null) {
      const stream = news.stream === 2 ? 2 : 1;
      const bytes = area.subarray(0, news.length);
      const route = routes[stream];
      if (route) host.write(route, bytes);
      else size += bytes.length;
      if (size > largestOutput) ask("kill", [program, "SIGPIPE"]);
      else if (!route) output[stream].push(latin1(bytes));
    }
    if (news !== null && host.now() < turnAt) continue;
    // Also of one that writes all the time: a timer may want its end.
    await turn();
    turnAt = host.now() + sliceMs;
    if (!signal?.aborted) continue;
    const wanted = signal.reason instanceof Cancellation ? signal.reason.signal : "SIGTERM";
    if (wanted !== sent) ask("kill", [program, wanted]);
    sent = wanted;
  }
}

function endOf(
  { exitCode, signal, crash, oom }: JobExit,
  [name]: readonly string[],
): { exitCode: number; note: string } {
  if (exitCode !== null) return { exitCode, note: "" };
  const status = 128 + (signalNumber(signal ?? "") ?? 9);
  if (oom) return { exitCode: status, note: `${name}: out of memory\n` };
  if (signal === "SIGPIPE") return { exitCode: status, note: `sandkit: ${name}: more output than a pipe holds here\n` };
  return { exitCode: status, note: crash === undefined ? "" : `${name}: fatal error: ${crash}\n` };
}

function failed([name]: readonly string[], reason: string): ExecResult {
  return { stdout: "", stderr: `bash: ${name}: ${reason}\n`, exitCode: 126 };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
