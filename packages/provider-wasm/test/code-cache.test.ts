import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findArtifacts } from "../src/artifacts.js";
import { SandboxChild } from "../src/child-process.js";
import { wasm } from "../src/index.js";

const parent = mkdtempSync(join(tmpdir(), "sandkit-code-cache-"));
const directory = join(parent, "caches");
const artifacts = findArtifacts();
let path = "";

/** Whether a child that is shown a file takes its code as compiled. */
async function takes(codeCache: string): Promise<boolean> {
  const child = await SandboxChild.start(
    artifacts,
    {
      pyodide: artifacts.pyodide,
      quickjs: artifacts.quickjs,
      artifacts: artifacts.directory,
      memoryMiB: 512,
      diskMiB: 256,
      maxWorkers: 1,
      warmWorkers: 1,
      warmFirst: true,
      codeCache,
    },
    { hardening: "portable" },
  );
  await child.destroy();
  return child.cached;
}

async function built(): Promise<string> {
  for (let waited = 0; waited < 70_000; waited += 50) {
    const names = existsSync(directory) ? readdirSync(directory) : [];
    const [name] = names;
    if (names.length === 1 && name && !name.endsWith(".unfinished")) return join(directory, name);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no cache was built in 70 s: ${readdirSync(directory).join(", ")}`);
}

beforeAll(async () => {
  const sandbox = await createSandbox(wasm({ codeCache: directory }));
  await sandbox.destroy();
  path = await built();
}, 90_000);
afterAll(() => rmSync(parent, { recursive: true }));

describe.runIf(process.getuid !== undefined)("the code cache", () => {
  it("is built in the background, for this user alone, and then used", async () => {
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await takes(path)).toBe(true);
    const sandbox = await createSandbox(wasm({ codeCache: directory }));
    expect((await sandbox.runCode("import json\njson.dumps([1, 2])")).value).toBe("[1, 2]");
    expect((await sandbox.exec(["python3", "-c", "print(sum(range(10**5)))"])).stdout.text).toBe("4999950000\n");
    await sandbox.destroy();
  }, 60_000);

  it("is not taken when it is damaged, cut, of another build, or not ours alone", async () => {
    const good = readFileSync(path);
    const copy = join(directory, "copy");
    const write = (bytes: Uint8Array, mode = 0o600) => {
      rmSync(copy, { force: true });
      writeFileSync(copy, bytes, { mode });
      chmodSync(copy, mode);
    };
    write(good);
    expect(await takes(copy)).toBe(true);
    const flipped = Buffer.from(good);
    flipped[good.length - 1000] = (flipped[good.length - 1000] ?? 0) ^ 1;
    const otherBuild = Buffer.from(good.toString("latin1").replace(/[0-9a-f]{64}/, "0".repeat(64)), "latin1");
    for (const bytes of [flipped, otherBuild, good.subarray(0, 100_000), new Uint8Array(), Buffer.from("junk")]) {
      write(bytes);
      expect(await takes(copy)).toBe(false);
    }
    for (const mode of [0o602, 0o640]) {
      write(good, mode);
      expect(await takes(copy)).toBe(false);
    }
    if (process.getuid?.() === 0) {
      write(good);
      chownSync(copy, 12_345, 12_345);
      expect(await takes(copy)).toBe(false);
    }
    rmSync(copy);
    symlinkSync(path, copy);
    expect(await takes(copy)).toBe(false);
    rmSync(copy);
    expect(await takes(join(directory, "nothing"))).toBe(false);
  }, 120_000);

  it("is made anew where it is damaged", async () => {
    writeFileSync(path, "junk");
    utimesSync(path, 0, 0);
    // Left by an attempt that a busy machine ended.
    rmSync(`${path}.unfinished`, { force: true });
    const sandbox = await createSandbox(wasm({ codeCache: directory }));
    expect((await sandbox.runCode("1 + 1")).value).toBe(2);
    await sandbox.destroy();
    await built();
    for (let waited = 0; statSync(path).size < 1000 && waited < 60_000; waited += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await takes(path)).toBe(true);
  }, 120_000);
});
