// Sandboxes in numbers, and files from within one.
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { timed } from "../timed.mjs";
import { memoryBelow } from "../tree-memory.mjs";

const rounds = Number(process.argv[2]);
const provider = wasm({ codeCache: `${process.argv[3]}`, diskMiB: 256 });

/** @param {number} count */
async function atOnce(count) {
  const all = Array.from({ length: count }, (_, index) => index);
  /** @type {import("@sandkit/core").Sandbox[]} */
  const sandboxes = [];
  const ms = await timed(async () => {
    sandboxes.push(...(await Promise.all(all.map(() => createSandbox(provider)))));
    await Promise.all(sandboxes.map((sandbox, index) => answers(sandbox, index)));
  });
  await Promise.all(sandboxes.map((sandbox) => sandbox.destroy()));
  return ms;
}

/** @param {number} count */
async function living(count) {
  const before = memoryBelow(process.pid);
  const sandboxes = [];
  for (let index = 0; index < count; index++) {
    const sandbox = await createSandbox(provider);
    await answers(sandbox, index);
    sandboxes.push(sandbox);
  }
  // Each still does, with all the others there.
  await Promise.all(sandboxes.map((sandbox, index) => answers(sandbox, index + 1)));
  const bytes = memoryBelow(process.pid) - before;
  await Promise.all(sandboxes.map((sandbox) => sandbox.destroy()));
  return bytes;
}

/**
 * @param {import("@sandkit/core").Sandbox} sandbox
 * @param {number} index
 */
async function answers(sandbox, index) {
  const { value } = await sandbox.runCode(`sum(range(100_000)) + ${index}`);
  if (value !== 4999950000 + index) throw new Error(`the cell gave ${value}, not ${4999950000 + index}`);
}

const measured = `
import os, time
def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
block = bytes(10 ** 6)
def write():
    with open("big", "wb", buffering=0) as file:
        for _ in range(100): file.write(block)
def read():
    with open("big", "rb", buffering=0) as file:
        while file.read(10 ** 6): pass
def look():
    for _ in range(1000): os.stat("big")
[seconds(write), seconds(read), seconds(look)]`;

async function files() {
  const sandbox = await createSandbox(provider);
  /** @type {number[][]} */
  const found = [];
  for (let round = 0; round < rounds; round++) {
    found.push(/** @type {number[]} */ ((await sandbox.runCode(measured)).value));
  }
  await sandbox.destroy();
  return found;
}

/** The first command of a sandbox loads the shell. */
async function commands() {
  const sandbox = await createSandbox(provider);
  await answers(sandbox, 0);
  const first = await timed(() => sandbox.exec("echo first | tr a-z A-Z"));
  const next = [];
  for (let round = 0; round < rounds * 10; round++) next.push(await timed(() => sandbox.exec("ls | wc -l")));
  await sandbox.destroy();
  return { first, next };
}

const seconds = await files();
const shell = await commands();
const parallelMs = await atOnce(20);
const livingBytes = await living(50);
console.log(JSON.stringify({ seconds, shell, parallelMs, livingBytes }));
