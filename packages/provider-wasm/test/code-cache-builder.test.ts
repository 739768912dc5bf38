import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Artifacts, findArtifacts } from "../src/artifacts.js";
import { buildCodeCache } from "../src/code-cache/builder.js";

const parent = realpathSync(mkdtempSync(join(tmpdir(), "sandkit-builder-")));
let directory = "";
let round = 0;

beforeEach(() => {
  directory = join(parent, `round-${round++}`);
  mkdirSync(directory, { mode: 0o700 });
});
afterAll(() => rmSync(parent, { recursive: true }));

/** Process ids of the builders that write to the directory. */
function builders(): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";
      return line.includes(directory) && (line.startsWith("sandkit:") || line.includes("build-code-cache"));
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

async function until(condition: () => boolean, ms = 70_000): Promise<void> {
  for (let waited = 0; !condition(); waited += 20) {
    if (waited > ms) throw new Error(`it did not come about in ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Our files with another program to warm up with. */
function artifactsWith(warmUp: string): Artifacts {
  const artifacts = findArtifacts();
  const copy = join(parent, `artifacts-${round}`);
  cpSync(artifacts.directory, copy, { recursive: true });
  writeFileSync(join(copy, "warm_up.py"), warmUp);
  return { ...artifacts, directory: copy };
}

describe.runIf(process.platform === "linux")("the builder of a code cache", () => {
  it("holds up no program, ends soon after it, at a low priority, and leaves one file", async () => {
    const url = new URL("../dist/index.js", import.meta.url).href;
    const source = `import { wasm } from ${JSON.stringify(url)};
await wasm({ codeCache: ${JSON.stringify(directory)} }).create({});`;
    const program = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    // Closed, not only ended: nobody holds its output open.
    expect(await new Promise((resolve) => program.on("close", resolve))).toBe(0);
    const [builder = ""] = builders();
    const threads = readdirSync(`/proc/${builder}/task`).map((id) => `/proc/${builder}/task/${id}/stat`);
    const nice = threads.map((path) => readFileSync(path, "utf8").split(") ")[1]?.split(" ")[16]);
    expect(new Set(nice)).toEqual(new Set(["10"]));
    await until(() => builders().length === 0);
    const files = readdirSync(directory);
    expect(files).toHaveLength(1);
    expect(files[0]).toMatch(/_512-MiB_[0-9a-f]{12}$/);
    expect(statSync(join(directory, files[0] ?? "")).mode & 0o777).toBe(0o600);
  }, 120_000);

  it("works once at a time, for all that share the directory", async () => {
    const artifacts = findArtifacts();
    const [one, other] = [join(directory, "one"), join(directory, "other")];
    expect(buildCodeCache(artifacts, 512, one)).toBe(true);
    expect([one, one, other].map((path) => buildCodeCache(artifacts, 512, path))).toEqual([false, false, false]);
    await until(() => builders().length === 0);
    expect(readdirSync(directory)).toEqual(["one"]);
    expect(buildCodeCache(artifacts, 512, one)).toBe(false);
  }, 120_000);

  it("that fails leaves an empty file, and is not tried again for ten minutes", async () => {
    const artifacts = artifactsWith("1 / 0");
    const path = join(directory, "cache");
    expect(buildCodeCache(artifacts, 512, path)).toBe(true);
    await until(() => builders().length === 0);
    expect(readdirSync(directory)).toEqual(["cache.unfinished"]);
    const unfinished = `${path}.unfinished`;
    expect(statSync(unfinished).size).toBe(0);
    const [recent, old] = [9, 11].map((minutes) => new Date(Date.now() - minutes * 60_000));
    utimesSync(unfinished, recent ?? 0, recent ?? 0);
    expect(buildCodeCache(artifacts, 512, path)).toBe(false);
    utimesSync(unfinished, old ?? 0, old ?? 0);
    expect(buildCodeCache(findArtifacts(), 512, path)).toBe(true);
    await until(() => builders().length === 0);
    expect(readdirSync(directory)).toEqual(["cache"]);
  }, 180_000);

  it("is ended by its deadline, whatever it does", async () => {
    expect(buildCodeCache(artifactsWith("while True: pass"), 512, join(directory, "cache"), 4_000)).toBe(true);
    await until(() => builders().length === 1);
    await until(() => builders().length === 0, 20_000);
    expect(readdirSync(directory)).toEqual(["cache.unfinished"]);
  }, 60_000);

  it("keeps the newest eight caches, and everything that is none", async () => {
    const name = (memoryMiB: number) => `node-20.0.0_x64_${memoryMiB}-MiB_0123456789ab`;
    const write = (file: string, age: number) => {
      writeFileSync(join(directory, file), "");
      utimesSync(join(directory, file), 1_700_000_000 - age, 1_700_000_000 - age);
    };
    for (let age = 101; age <= 110; age++) write(name(age), age);
    for (let age = 201; age <= 210; age++) write(`notes-${age}.unfinished.txt`, age);
    buildCodeCache(findArtifacts(), 512, join(directory, name(512)));
    await until(() => builders().length === 0);
    const files = readdirSync(directory);
    const kept = [101, 102, 103, 104, 105, 106, 107, 512].map(name);
    expect(files.filter((file) => file.startsWith("node-")).sort()).toEqual(kept);
    expect(files).toHaveLength(18);
  }, 120_000);

  it("is not begun where nothing can be written", () => {
    expect(buildCodeCache(findArtifacts(), 512, join(directory, "missing/cache"))).toBe(false);
  });
});
