import { type GuestProgram, guestSource } from "./guest-source.js";
import type { PlainPlace } from "./plain-place.js";

/** What is said is kept in memory, and no program of a box is believed without bound: not the image's own tools. */
export const maxStdoutBytes = 64 * 1024 * 1024;
const maxStderrBytes = 64 * 1024;

/** What a program of ours said. */
export interface GuestAnswer {
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs a program of ours inside, to its end.
 * @param tooMuch The error for one that says too much; without, it could not answer
 * @throws SandboxError `SANDBOX_LOST` when it could not answer
 */
export async function runGuest(
  place: PlainPlace,
  program: GuestProgram,
  args: readonly string[],
  stdin?: Uint8Array,
  tooMuch?: () => Error,
): Promise<GuestAnswer> {
  const command = ["sh", "-c", await guestSource(program), "sh", ...args];
  const exec = await place.start(command, {
    env: [],
    stdin: stdin !== undefined,
    isUrgent: program === "kill",
  });
  const stdout: Uint8Array[] = [];
  let room = maxStdoutBytes;
  let stderr = Buffer.alloc(0);
  exec.listen({
    stdout: (bytes) => {
      room -= bytes.length;
      if (room < 0) exec.destroy();
      else stdout.push(bytes);
    },
    stderr: (bytes) => {
      stderr = Buffer.concat([stderr, bytes]).subarray(-maxStderrBytes);
    },
    wanted: () => true,
  });
  if (stdin) {
    // One that has failed does not take it all, and says why.
    if (stdin.length > 0) await Promise.race([exec.write(stdin), exec.closed]);
    exec.end();
  }
  await exec.closed;
  if (room < 0) throw tooMuch?.() ?? place.lost();
  const said = { stdout: Buffer.concat(stdout), stderr: stderr.toString("utf8") };
  const { complete, failure } = await exec.ending();
  if (!complete || (said.stdout.length === 0 && said.stderr === "")) throw failure ?? place.lost();
  return said;
}
