import { constants } from "node:os";
import { type BoxExit, type BoxProgram, BoxStartError } from "../../box-process.js";
import type { EmulatedBox } from "../../emulated-box.js";

/** What a finished program left. */
export interface Finished {
  /** 128 and the number of the signal for one that a signal ended; -1 for one that could not be started. */
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** How {@link run} runs; default: in the home folder, with nothing added, without input. */
export interface RunOptions {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly input?: string | Uint8Array | undefined;
  /** Ends the program. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program to its end and gives all its output. */
export async function run(box: EmulatedBox, argv: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { cwd = box.home, env = {}, input, signal } = options;
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const program: BoxProgram = { argv, cwd, env, stdin: input !== undefined };
  try {
    const process = await box.start(program);
    const end = () => process.signalTree("SIGKILL");
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    const fed = input === undefined ? undefined : feed(process, input);
    for await (const { stream, bytes } of process.output()) output[stream].push(bytes);
    signal?.removeEventListener("abort", end);
    await fed;
    const exitCode = exitCodeOf(await process.exited);
    return { exitCode, stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr) };
  } catch (error) {
    if (!(error instanceof BoxStartError)) throw error;
    return { exitCode: -1, stdout: Buffer.alloc(0), stderr: Buffer.from(error.message) };
  }
}

/** The number that a shell gives for an end. */
export function exitCodeOf({ code, signal }: BoxExit): number {
  if (code !== null) return code;
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return 128 + (number ?? 0);
}

/** Kills a program that leads a process group, and the group; who has left the group lives on. */
export async function killGroup(
  box: EmulatedBox,
  process: { readonly pid: number; signal(name: NodeJS.Signals): Promise<void> },
): Promise<void> {
  await run(box, ["sh", "-c", 'kill -s KILL -- "-$1"', "sh", String(process.pid)]);
  await process.signal("SIGKILL");
}

async function feed(
  process: { write(data: Uint8Array): Promise<void>; closeStdin(): Promise<void> },
  input: string | Uint8Array,
): Promise<void> {
  await process.write(Buffer.from(input));
  await process.closeStdin();
}
