import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createSandbox, type Provider } from "@sandkit/core";
import { afterEach, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";
import { childrenOf, innermost, lives } from "./processes.js";

const providers: Provider[] = [];

function pooled(size = 1, options: Parameters<typeof wasm>[0] = {}): Provider {
  // Without a cache of code, which a process beside the children would make.
  const provider = wasm({ codeCache: false, ...options, pool: { size } });
  providers.push(provider);
  return provider;
}

/** Process ids of this process's children that live. */
function children(): number[] {
  return childrenOf().filter(lives).map(Number);
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 20) {
    if (waited > 40_000) throw new Error("it did not come about in 40 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until processes have come up and have nothing to do. */
async function idle(pids: () => readonly number[]): Promise<void> {
  const ticks = () =>
    pids().map((pid) => {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return Number(fields[11]) + Number(fields[12]);
    });
  let [before, since] = [ticks(), Date.now()];
  await until(() => {
    const now = ticks();
    // In hundredths of a second: a start takes far more, and the watch on the memory next to nothing.
    if (now.some((value, index) => value - (before[index] ?? 0) > 4)) [before, since] = [now, Date.now()];
    return now.every((value) => value > 20) && Date.now() - since > 1_500;
  });
}

/** Waits for the pool's children by taking one when it is there: what it said on the way tells a cold start. */
async function claim(provider: Provider, options: Parameters<typeof createSandbox>[1] = {}) {
  const progress: string[] = [];
  const sandbox = await createSandbox(provider, { ...options, onProgress: (message) => progress.push(message) });
  return { sandbox, cold: progress.length > 0 };
}

afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close?.()));
});

describe.runIf(process.platform === "linux")("a pool", () => {
  it("hands out sandboxes that nobody has used: no state, other random numbers, an environment and files of their own", async () => {
    const provider = pooled(2);
    const code =
      "import os, random, uuid, tempfile\nfirst = 'used' not in globals()\nused = 1\n[first, random.random(), uuid.uuid4().hex, tempfile.mktemp(), os.environ.get('MINE'), sorted(os.listdir('.'))]";
    const seen: unknown[][] = [];
    for (const number of [1, 2, 3]) {
      const { sandbox } = await claim(provider, { env: { MINE: `${number}` }, files: { [`file${number}`]: "x" } });
      const { value } = await sandbox.runCode(code);
      seen.push(value as unknown[]);
      await sandbox.destroy();
    }
    expect(seen.map(([first]) => first)).toEqual([true, true, true]);
    for (const index of [1, 2, 3]) expect(new Set(seen.map((values) => values[index])).size).toBe(3);
    expect(seen.map((values) => values.slice(4))).toEqual([
      ["1", ["file1"]],
      ["2", ["file2"]],
      ["3", ["file3"]],
    ]);
  }, 60_000);

  it("honours what is given at the claim and what is fixed at birth", async () => {
    const provider = pooled();
    const { sandbox, cold } = await claim(provider, {
      workdir: "/data/here",
      resources: { diskMiB: 3 },
      labels: { team: "a" },
      name: "mine",
      lifetime: { ttlMs: 60_000 },
    });
    expect(cold).toBe(false);
    const { value } = await sandbox.runCode("import os, shutil\n[os.getcwd(), shutil.disk_usage('/').total]");
    expect(value).toEqual(["/data/here", 3 * 1024 * 1024]);
    const { labels, name, expiresAt, createdAt } = await sandbox.info();
    expect([labels, name]).toEqual([{ team: "a" }, "mine"]);
    expect(Number(expiresAt) - Number(createdAt)).toBeGreaterThan(50_000);
    await sandbox.destroy();

    const small = await claim(provider, { resources: { memoryMiB: 96 } });
    const cell = await small.sandbox.runCode("bytearray(80 * 1024 * 1024)");
    expect([small.cold, cell.error?.name]).toEqual([true, "MemoryError"]);
    await small.sandbox.destroy();
  }, 60_000);

  it("hands out clocks that are right, however long they have waited", async () => {
    const provider = pooled();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const { sandbox, cold } = await claim(provider);
    const { value } = await sandbox.runCode(
      "import datetime, time\nstart = time.monotonic()\ntime.sleep(0.3)\n[time.time(), datetime.datetime.now(datetime.UTC).timestamp(), time.monotonic() - start]",
    );
    const [time = 0, datetime = 0, slept = 0] = value as number[];
    expect(cold).toBe(false);
    expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(2);
    expect(Math.abs(datetime - time)).toBeLessThan(1);
    expect(slept).toBeGreaterThan(0.29);
    await sandbox.destroy();
  }, 60_000);

  it("never hands out a child that has died or stands still", async () => {
    const before = new Set(children());
    const provider = pooled(2);
    await until(() => children().filter((pid) => !before.has(pid)).length === 2);
    const first = await claim(provider);
    await first.sandbox.destroy();
    await until(() => children().filter((pid) => !before.has(pid)).length === 2);
    const holders = () => children().flatMap((pid) => (before.has(pid) ? [] : [Number(innermost(`${pid}`))]));
    await idle(holders);
    const [dead = 0, still = 0] = holders();
    process.kill(still, "SIGSTOP");
    process.kill(dead, "SIGKILL");
    const { sandbox } = await claim(provider);
    expect((await sandbox.runCode("1 + 1")).value).toBe(2);
    await sandbox.destroy();
    await provider.close?.();
    expect(children().filter((pid) => !before.has(pid))).toEqual([]);
  }, 150_000);

  it("serves many at once while it is empty", async () => {
    const provider = pooled(1);
    const claims = await Promise.all([1, 2, 3, 4].map(() => claim(provider)));
    const values = await Promise.all(claims.map(({ sandbox }) => sandbox.runCode("import os\nos.getpid()")));
    expect(values.every(({ ok }) => ok)).toBe(true);
    expect(new Set(claims.map(({ sandbox }) => sandbox.ref.id)).size).toBe(4);
    expect(claims.filter(({ cold }) => !cold).length).toBe(1);
    await Promise.all(claims.map(({ sandbox }) => sandbox.destroy()));
  }, 90_000);

  it("closed leaves no process but those of living sandboxes, which go on; more can be created", async () => {
    const before = new Set(children());
    const provider = pooled(2);
    const { sandbox } = await claim(provider);
    await Promise.all([provider.close?.(), provider.close?.()]);
    expect(children().filter((pid) => !before.has(pid))).toHaveLength(1);
    expect((await sandbox.runCode("6 * 7")).value).toBe(42);
    const later = await claim(provider);
    expect(later.cold).toBe(true);
    await Promise.all([sandbox.destroy(), later.sandbox.destroy()]);
    expect(children().filter((pid) => !before.has(pid))).toEqual([]);
  }, 60_000);

  it.each([
    ["at once", "", 0],
    ["while it fills", "await new Promise((resolve) => setTimeout(resolve, 100));", 0],
    ["after a claim, which it waits for", "console.log((await provider.create({})).workdir);", 0],
  ])(
    "lets the program end %s, and ends with it",
    async (_, work, code) => {
      const url = new URL("../dist/index.js", import.meta.url).href;
      const source = `import { readFileSync } from "node:fs";
import { wasm } from ${JSON.stringify(url)};
const provider = wasm({ codeCache: false, pool: { size: 2 } });
const children = () => readFileSync(\`/proc/\${process.pid}/task/\${process.pid}/children\`, "utf8");
${work}
while (children() === "") await new Promise((resolve) => setTimeout(resolve, 1));
console.log(children());`;
      const program = spawn(process.execPath, ["--input-type=module", "-e", source], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let text = "";
      program.stdout.on("data", (bytes) => {
        text += bytes;
      });
      expect(await new Promise((resolve) => program.on("close", resolve))).toBe(code);
      const pids = text.trim().split("\n").at(-1)?.split(" ").filter(Boolean) ?? [];
      expect(pids.length).toBeGreaterThan(0);
      await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)));
    },
    60_000,
  );
});
