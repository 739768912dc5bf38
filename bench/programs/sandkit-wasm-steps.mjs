// What comes after the first sandbox of a running program: further ones, from the pool, further interpreters, memory.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { timed } from "../timed.mjs";

const rounds = Number(process.argv[2]);
const codeCache = `${process.argv[3]}`;
/** Long enough for everything in the background to be done, so that only what is meant is measured. */
const settleMs = 2_000;
const cold = wasm({ codeCache });

/** @param {import("@sandkit/core").Sandbox} sandbox */
async function firstResult(sandbox) {
  const { value } = await sandbox.runCode("sum(range(100))");
  if (value !== 4950) throw new Error(`the cell gave ${value}, not 4950`);
}

async function newSandbox() {
  const start = performance.now();
  const sandbox = await createSandbox(cold);
  await firstResult(sandbox);
  const ms = performance.now() - start;
  await sandbox.destroy();
  return ms;
}

async function pooledSandboxes() {
  const provider = wasm({ codeCache, pool: { size: 1 } });
  const times = [];
  for (let round = 0; round < rounds; round++) {
    await wait(settleMs);
    const onProgress = () => {
      throw new Error("the pool was empty");
    };
    const start = performance.now();
    const sandbox = await createSandbox(provider, { onProgress });
    await firstResult(sandbox);
    times.push(performance.now() - start);
    await sandbox.destroy();
  }
  await wait(settleMs);
  const bytes = ownBytes();
  await provider.close?.();
  return { times, bytes };
}

async function interpreters() {
  const sandbox = await createSandbox(wasm({ codeCache, warmWorkers: 0 }));
  await firstResult(sandbox);
  const before = ownBytes();
  const times = [];
  for (let round = 0; round < rounds; round++) {
    times.push(
      await timed(async () => {
        const kernel = await sandbox.kernel({ id: `kernel-${round}` });
        await kernel.run("1 + 1");
      }),
    );
  }
  await wait(settleMs);
  const bytes = (ownBytes() - before) / rounds;
  await sandbox.destroy();
  return { times, bytes };
}

async function interrupts() {
  const sandbox = await createSandbox(cold);
  const kernel = await sandbox.kernel();
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const cell = kernel.run("while True: pass");
    await wait(300);
    const start = performance.now();
    await kernel.interrupt();
    const { error } = await cell;
    times.push(performance.now() - start);
    if (error?.name !== "KeyboardInterrupt") throw new Error(`the cell ended with ${error?.name}`);
  }
  await sandbox.destroy();
  return times;
}

/**
 * Memory that the children of this process take, each shared page by its share, in bytes: what one more costs. NaN
 * where there is no /proc.
 */
function ownBytes() {
  if (process.platform !== "linux") return Number.NaN;
  return below(process.pid)
    .map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))
    .reduce((sum, text) => sum + Number(/^Pss:\s*(\d+)/m.exec(text)?.[1] ?? 0) * 1024, 0);
}

/**
 * Processes below one: a sandbox is behind one or two that only hold it.
 * @param {number | string} pid
 * @returns {string[]}
 */
function below(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

await newSandbox();
await wait(settleMs);
const created = [];
for (let round = 0; round < rounds; round++) created.push(await newSandbox());
const pooled = await pooledSandboxes();
const further = await interpreters();
const interrupted = await interrupts();
console.log(JSON.stringify({ created, pooled, further, interrupted }));
