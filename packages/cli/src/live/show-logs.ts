import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "@sandkit/core";
import type { Invocation } from "../command.js";
import { CommandError } from "../command-error.js";
import { table } from "../table.js";
import { writeOut } from "../write-out.js";
import { connect, referenceOf } from "./find-sandbox.js";
import { guestScript } from "./guest-script.js";

const lookAgainMs = 300;
const folder = "/tmp/.sandkit-programs";

/** A program that `exec --detach` has started. */
interface Started {
  readonly program: string;
  readonly state: string;
  readonly startedAt: Date;
  readonly bytes: number;
  readonly command: string;
}

/** `sandkit logs`: what detached programs have printed; resolves with the exit code. */
export async function showLogs(invocation: Invocation): Promise<number> {
  const { values, positionals } = invocation;
  const { sandbox } = await connect(values, referenceOf(invocation, "sandkit logs REF [PROGRAM]"));
  const started = await list(sandbox);
  const named = positionals[1];
  if (named === undefined) return show(sandbox, started, values.json === true);
  const chosen = started.find(({ program }) => program === named);
  if (!chosen) {
    throw new CommandError("NOT_FOUND", 1, `no program "${named}" was started by sandkit exec --detach`, [
      { text: "those that were", command: `sandkit logs ${sandbox.ref.id}` },
    ]);
  }
  await print(sandbox, named, values.follow === true);
  return 0;
}

async function list(sandbox: Sandbox): Promise<Started[]> {
  const { stdout } = (await sandbox.exec(["sh", "-c", guestScript("programs.sh")])).orThrow();
  return stdout.text.split("\n").flatMap((line) => {
    const [program, state, seconds, bytes, command] = line.split("\t");
    const startedAt = new Date(Number(seconds) * 1000);
    // The programs that tell it are the sandbox's.
    if (program === undefined || state === undefined || command === undefined || Number.isNaN(startedAt.getTime()))
      return [];
    return [{ program, state, startedAt, bytes: Number(bytes), command }];
  });
}

function show(sandbox: Sandbox, started: readonly Started[], json: boolean): number {
  if (json) {
    process.stdout.write(`${JSON.stringify({ ref: sandbox.ref, programs: started })}\n`);
    return 0;
  }
  const rows = started.map(({ program, state, startedAt, bytes, command }) => [
    program,
    state,
    startedAt.toISOString().slice(0, 19).replace("T", " "),
    `${bytes}`,
    command.trim(),
  ]);
  process.stdout.write(table(["PROGRAM", "STATE", "STARTED (UTC)", "BYTES", "COMMAND"], rows));
  if (started.length === 0 && process.stderr.isTTY)
    process.stderr.write("none was started by exec --detach; what others print goes to whoever started them\n");
  return 0;
}

/** What it has printed; with `follow` also what it prints until it ends. */
async function print(sandbox: Sandbox, program: string, follow: boolean): Promise<void> {
  const output = `${folder}/${program}/output`;
  let offset = 0;
  for (;;) {
    // Asked first: what was printed before its end is then read after it.
    const ended = await sandbox.files.exists(`${folder}/${program}/exit`);
    for await (const piece of await sandbox.files.readStream(output, { offset })) {
      offset += piece.length;
      if (!(await writeOut(piece))) return;
    }
    if (!follow || ended) return;
    await pause(lookAgainMs);
  }
}
