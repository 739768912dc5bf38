import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../sandbox.js";
import { eventually } from "./assertions.js";

/** Longer than several beats of a program that beats every 50 ms, on a machine that is busy. */
const silenceMs = 400;

/** Waits until a program beats in the file. */
export async function beats(sandbox: Sandbox, file: string): Promise<void> {
  const first = await eventually(`a first heartbeat in ${file}`, async () => (await beatCount(sandbox, file)) > 0);
  if (first) await goesOn(sandbox, file);
}

/** Fails unless the program beats on. */
export async function goesOn(sandbox: Sandbox, file: string): Promise<void> {
  const before = await beatCount(sandbox, file);
  await eventually(`another heartbeat in ${file}`, async () => (await beatCount(sandbox, file)) > before);
}

/** Fails when a program that did beat in the file still does. */
export async function silent(sandbox: Sandbox, file: string): Promise<void> {
  const before = await beatCount(sandbox, file);
  if (before === 0) throw new Error(`${file} has no heartbeat at all, so its silence proves nothing`);
  await pause(silenceMs);
  const after = await beatCount(sandbox, file);
  if (after !== before) throw new Error(`a process survived: ${after - before} more heartbeats in ${file}`);
}

/** How often a program has beaten in the file. */
export async function beatCount(sandbox: Sandbox, file: string): Promise<number> {
  return (await sandbox.files.exists(file)) ? (await sandbox.files.stat(file)).size : 0;
}
