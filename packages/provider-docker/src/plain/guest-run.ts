import { splitStreams } from "../engine/split-streams.js";
import { type ExecPlace, lostSandbox, startInContainer } from "./engine-exec.js";
import { type GuestProgram, guestSource } from "./guest-source.js";

const maxStderrBytes = 64 * 1024;

/** What a program of ours said. */
export interface GuestAnswer {
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs a program of ours inside, to its end. @throws SandboxError `SANDBOX_LOST` when it could not answer */
export async function runGuest(
  place: ExecPlace,
  program: GuestProgram,
  args: readonly string[],
  stdin?: Uint8Array,
): Promise<GuestAnswer> {
  const command = ["sh", "-c", await guestSource(program), "sh", ...args];
  const { streams, closed } = await startInContainer(place, command, { env: [], stdin: stdin !== undefined });
  const stdout: Uint8Array[] = [];
  let stderr = Buffer.alloc(0);
  splitStreams(streams, {
    stdout: (bytes) => stdout.push(bytes),
    stderr: (bytes) => {
      stderr = Buffer.concat([stderr, bytes]).subarray(-maxStderrBytes);
    },
    wanted: () => true,
  });
  if (stdin) streams.end(stdin);
  await closed;
  const said = { stdout: Buffer.concat(stdout), stderr: stderr.toString("utf8") };
  if (said.stdout.length === 0 && said.stderr === "") throw lostSandbox(place.sandboxId);
  return said;
}
