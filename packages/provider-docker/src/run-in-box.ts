import type { ProviderSession } from "@sandkit/core";

/** Of what a program prints, where that is kept, in bytes: it may be anything. */
const keptOutput = 1024 * 1024;
/** Of what a program says on stderr, in characters. */
const keptWords = 2_000;

/** How a program of ours in a box has ended. */
export interface BoxRun {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** The end of what it said on stderr, in one line. */
  readonly words: string;
}

/** A program of ours that runs in a box, as its user. */
export interface BoxProgram {
  readonly stdout: ReadableStream<Uint8Array>;
  /** Rejects when the sandbox is lost. */
  readonly ended: Promise<BoxRun>;
  write(bytes: Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
  kill(): Promise<void>;
}

/** How it is run. */
export interface RunInBoxOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Starts a program in a box, whose stdout is to be read. */
export async function startInBox(
  session: Pick<ProviderSession, "spawn">,
  command: readonly string[],
  options: RunInBoxOptions & { readonly stdin?: boolean },
): Promise<BoxProgram> {
  const { stdin = false, signal, env } = options;
  const process = await session.spawn(command, { cwd: "/", env, stdin, signal });
  const words = tailOf(process.stderr);
  // Until somebody waits for it.
  words.catch(() => undefined);
  const ended = process.exited.then(async ({ exitCode }) => ({ exitCode, words: await words }));
  ended.catch(() => undefined);
  return {
    stdout: process.stdout,
    ended,
    write: (bytes) => process.write(bytes),
    closeStdin: () => process.closeStdin(),
    kill: () => process.kill("SIGKILL"),
  };
}

/** Runs a program in a box to its end and gives what it printed, up to a MiB. */
export async function runInBox(
  session: Pick<ProviderSession, "spawn">,
  command: readonly string[],
  options: RunInBoxOptions,
): Promise<BoxRun & { readonly output: Buffer }> {
  const program = await startInBox(session, command, options);
  const chunks: Uint8Array[] = [];
  let room = keptOutput;
  for await (const chunk of program.stdout) {
    chunks.push(chunk.subarray(0, room));
    room -= Math.min(room, chunk.length);
  }
  return { ...(await program.ended), output: Buffer.concat(chunks) };
}

async function tailOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) text = (text + piece).slice(-keptWords);
  return text.trim().split("\n").slice(-3).join(" | ");
}
