import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "../errors.js";
import type { Sandbox } from "../sandbox.js";
import { eventually } from "./assertions.js";

/** Longer than several beats of a program that beats every 50 ms, on a machine that is busy. */
const silenceMs = 400;

/** Waits until a program beats in the file, once and again. */
export async function beats(sandbox: Sandbox, file: string): Promise<void> {
  await eventually(`two heartbeats in ${file}`, async () => (await beatCount(sandbox, file)) > 1);
}

/** Fails unless the program beats on. */
export async function goesOn(sandbox: Sandbox, file: string): Promise<void> {
  const before = await beatCount(sandbox, file);
  await eventually(`another heartbeat in ${file}`, async () => (await beatCount(sandbox, file)) > before);
}

/** Fails when a program that did beat in the file still does. `counted`: how often it has until now. */
export async function silent(sandbox: Sandbox, file: string, counted?: number): Promise<void> {
  const before = counted ?? (await beatCount(sandbox, file));
  if (before === 0) throw new Error(`${file} has no heartbeat at all, so its silence proves nothing`);
  await pause(silenceMs);
  const after = await beatCount(sandbox, file);
  if (after !== before) throw new Error(`a process survived: ${after - before} more heartbeats in ${file}`);
}

/** How often a program has beaten in the file. */
export async function beatCount(sandbox: Sandbox, file: string): Promise<number> {
  return sandbox.files.stat(file).then(
    ({ size }) => size,
    (error: unknown) => (isMissing(error) ? 0 : Promise.reject(error)),
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof SandboxError && error.code === "FILE_NOT_FOUND";
}
