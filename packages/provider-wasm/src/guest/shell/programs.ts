import type { ExecResult, ResolvedCommandContext } from "just-bash";
import type { Interpreter, JobExit } from "../../protocol.js";
import { ask, chunkBytes } from "./broker.js";
import { bytesOfLatin1, latin1 } from "./bytes.js";
import { host } from "./globals.js";

/** What the broker tells of a program, each time it is asked. */
type News = { readonly stream: number; readonly length: number } | { readonly exit: JobExit } | null;

/** How long to wait for news before other commands of the shell, such as `timeout`, get their turn. */
const sliceMs = 25;
/** Output that a pipe or a substitution can hold. */
const largestOutput = 64 * 1024 * 1024;

/**
 * Starts an interpreter of this sandbox as a program of its own, or a command of the caller's process, and waits for
 * its end.
 */
export async function runProgram(
  runner: Interpreter | "host",
  argv: readonly string[],
  context: ResolvedCommandContext,
  direct: string,
): Promise<ExecResult> {
  const { [direct]: streams, ...env } = { ...context.exportedEnv };
  const stdin = bytesOfLatin1(context.stdin as unknown as string);
  const started = ask<{ program: number } | { error: string }>("spawn", [
    runner,
    argv,
    { cwd: context.cwd, env: { ...env } },
    stdin.length > 0,
  ]);
  if ("error" in started) return failed(argv, started.error === "E2BIG" ? "argument list too long" : started.error);
  const { program } = started;
  for (let done = 0; done < stdin.length; done += chunkBytes) {
    ask("feed", [program], stdin.subarray(done, done + chunkBytes), true);
  }
  if (stdin.length > 0) ask("feed", [program]);
  return collect(program, argv, context, streams !== undefined);
}

async function collect(
  program: number,
  argv: readonly string[],
  context: ResolvedCommandContext,
  streams: boolean,
): Promise<ExecResult> {
  const area = new Uint8Array(chunkBytes);
  const output = { 1: [] as string[], 2: [] as string[] };
  let size = 0;
  for (;;) {
    const news = ask<News>("collect", [program, sliceMs], area);
    if (news === null) {
      await turn();
      if (context.signal?.aborted) ask("kill", [program, "SIGTERM"]);
    } else if ("exit" in news) {
      const { exitCode, note } = endOf(news.exit, argv);
      const stderr = new TextDecoder().decode(bytesOfLatin1(output[2].join(""))) + note;
      return { stdout: output[1].join(""), stdoutKind: "bytes", stdoutEncoding: "binary", stderr, exitCode };
    } else {
      const bytes = area.subarray(0, news.length);
      if (streams) {
        host.write(news.stream, bytes);
        continue;
      }
      size += bytes.length;
      if (size > largestOutput) ask("kill", [program, "SIGPIPE"]);
      else output[news.stream === 2 ? 2 : 1].push(latin1(bytes));
    }
  }
}

const signals: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGPIPE: 13,
  SIGTERM: 15,
};

function endOf(
  { exitCode, signal, crash, oom }: JobExit,
  [name]: readonly string[],
): { exitCode: number; note: string } {
  if (exitCode !== null) return { exitCode, note: "" };
  const status = 128 + (signals[signal ?? ""] ?? 9);
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
