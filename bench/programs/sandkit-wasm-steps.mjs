// What comes after the first sandbox of a running program: further ones, from the pool, further interpreters, memory.
import { setTimeout as wait } from "node:timers/promises";
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { timed } from "../timed.mjs";
import { memoryBelow } from "../tree-memory.mjs";

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
  const bytes = memoryBelow(process.pid);
  await provider.close?.();
  return { times, bytes };
}

async function interpreters() {
  const sandbox = await createSandbox(wasm({ codeCache, warmWorkers: 0 }));
  await firstResult(sandbox);
  const before = memoryBelow(process.pid);
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
  const bytes = (memoryBelow(process.pid) - before) / rounds;
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

await newSandbox();
await wait(settleMs);
const created = [];
for (let round = 0; round < rounds; round++) created.push(await newSandbox());
const pooled = await pooledSandboxes();
const further = await interpreters();
const interrupted = await interrupts();
console.log(JSON.stringify({ created, pooled, further, interrupted }));
