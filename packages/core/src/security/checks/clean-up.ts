import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SandboxRef } from "../../provider.js";
import { processesWith } from "../bait.js";
import { holdCommand, holdFile, type Inside } from "../inside.js";
import type { Attack, Check, CheckContext } from "../probe.js";

const goneWithinMs = 5_000;
const readyWithinMs = 120_000;

/** What is left after a deadline, an end, or the death of who made it. */
export const cleanUpCheck: Check = {
  name: "clean-up",
  probes: {
    "clean-up.deadline": {
      title: "nothing lives on after a deadline, whatever it is deaf to",
      severity: "high",
      fix: "end the whole tree of a program, and look that it is dead",
    },
    "clean-up.destroy": {
      title: "nothing lives on or is left on disk after destroy",
      severity: "high",
      fix: "remove it by hand, then look why destroy says it is done: sandkit ls, sandkit gc",
    },
    "clean-up.owner": {
      title: "nothing lives on once its owner was killed by kill -9",
      severity: "high",
      fix: "tie its life to the owner's, or sweep: sandkit gc",
    },
  },
  async run(context) {
    return [await deadline(context.target), await destroyed(context), await orphaned(context)];
  },
};

function newMark(): string {
  return `sandkit-left-${randomBytes(8).toString("hex")}`;
}

/** A child in a session of its own that is deaf to signals beats in a file, before and after the deadline. */
async function deadline({ sandbox, language }: Inside): Promise<Attack> {
  const id = "clean-up.deadline";
  const beats = `${sandbox.workdir}/${newMark()}`;
  const { reason } = await sandbox.exec(holdCommand(language, "deaf", newMark(), beats), { timeoutMs: 1_000 });
  const before = await sizeOf(sandbox, beats);
  await pause(300);
  const after = await sizeOf(sandbox, beats);
  const saw = `a tree that left its session and ignores SIGTERM, deadline 1 s: ${reason}; ${before} signs of life, ${after} after 300 ms more`;
  if (before === 0) return { id, outcome: "untried", saw };
  return { id, outcome: reason !== "timeout" || after > before ? "got" : "held", saw };
}

async function sizeOf(sandbox: Inside["sandbox"], path: string): Promise<number> {
  return (await sandbox.files.exists(path)) ? (await sandbox.files.stat(path)).size : 0;
}

async function destroyed(context: CheckContext): Promise<Attack> {
  const id = "clean-up.destroy";
  const { sandbox, language } = await context.sandbox();
  const mark = newMark();
  const inside = { sandbox, language };
  const began = await startHeld(inside, mark);
  await sandbox.files.write(mark, mark);
  const { ref, workdir } = sandbox;
  await sandbox.destroy();
  if (!began) return { id, outcome: "untried", saw: "the program that was to be left there did not start" };
  const left = await leftovers(mark, async () => refersTo(context, ref));
  const onDisk = await filesWith(mark, [tmpdir(), workdir]);
  const found = [...left, ...onDisk.map((path) => `file ${path}`)];
  const saw =
    found.length > 0
      ? found.join(", ")
      : "no sandbox in the list, none to attach to, no process and no file of it here";
  return { id, outcome: found.length > 0 ? "got" : "held", saw };
}

/** False when it ends before it has begun. */
async function startHeld({ sandbox, language }: Pick<Inside, "sandbox" | "language">, mark: string): Promise<boolean> {
  const held = await sandbox.spawn(holdCommand(language, "deaf", mark, `${sandbox.workdir}/beats`));
  // Ends with the sandbox, which is its purpose.
  held.wait().catch(() => undefined);
  for await (const _ of held.stdout) return true;
  return false;
}

/** Whether the provider still knows it. */
async function refersTo({ provider }: CheckContext, ref: SandboxRef): Promise<string[]> {
  const found: string[] = [];
  const { list, attach } = provider.capabilities.features;
  if (list) for await (const info of provider.list()) if (info.ref.id === ref.id) found.push(`${ref.id} in the list`);
  if (attach && found.length === 0 && (await provider.attach(ref)) !== null) found.push(`${ref.id} to attach to`);
  return found;
}

/** Another program makes a sandbox, and is killed as nothing can be caught. */
async function orphaned(context: CheckContext): Promise<Attack> {
  const id = "clean-up.owner";
  const { owner, provider, target } = context;
  if (!owner) return { id, outcome: "untried", saw: 'no program to own a sandbox: give "owner"' };
  const mark = newMark();
  const labels = { "security-check": mark };
  const args = ["deaf", mark, `${target.sandbox.workdir}/beats`];
  const [program = "", ...rest] = owner({ file: holdFile(target.language), args, labels });
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] });
  const failure = await ready(child);
  if (failure !== undefined) return { id, outcome: "untried", saw: `the owner made no sandbox: ${failure}` };
  child.kill("SIGKILL");
  await once(child, "exit");
  const listed = async () => {
    const found: string[] = [];
    if (provider.capabilities.features.list)
      for await (const info of provider.list({ labels })) found.push(`sandbox ${info.ref.id}`);
    return found;
  };
  const alone = await leftovers(mark, listed);
  if (alone.length === 0) return { id, outcome: "held", saw: "owner killed by SIGKILL: the sandbox ended by itself" };
  await provider.reap({ olderThanMs: 0 });
  const swept = await leftovers(mark, listed);
  const outcome = swept.length === 0 ? "held" : "got";
  const saw = outcome === "held" ? "the next sweep (gc) removed it" : `left: ${swept.join(", ")}`;
  return { id, outcome, saw: `owner killed by SIGKILL: ${saw}` };
}

/** Why the owner has no sandbox; undefined once the program in it runs. */
async function ready(child: ChildProcess): Promise<string | undefined> {
  let said = "";
  let complained = "";
  child.stderr?.on("data", (piece: Buffer) => (complained += piece.toString()));
  const end = performance.now() + readyWithinMs;
  child.stdout?.on("data", (piece: Buffer) => (said += piece.toString()));
  child.on("error", (error) => (complained += error.message));
  while (!said.includes("ready")) {
    if (child.exitCode !== null || child.pid === undefined)
      return complained.trim() || `it ended with ${child.exitCode}`;
    if (performance.now() > end) {
      child.kill("SIGKILL");
      return "it took too long";
    }
    await pause(20);
  }
  return undefined;
}

/** What is still there of a sandbox, after the time that an end may take. */
async function leftovers(mark: string, known: () => Promise<string[]>): Promise<string[]> {
  const end = performance.now() + goneWithinMs;
  for (;;) {
    const processes = (await processesWith(mark)).map((pid) => `process ${pid}`);
    const left = [...processes, ...(await known())];
    if (left.length === 0 || performance.now() > end) return left;
    await pause(100);
  }
}

/** Files of this name in the folders, a few levels down. */
async function filesWith(name: string, folders: readonly string[], depth = 3): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    // Not there, or not ours to look into.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.name === name) found.push(path);
      else if (entry.isDirectory() && depth > 1) found.push(...(await filesWith(name, [path], depth - 1)));
    }
  }
  return found;
}
