import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { Pool, type PoolOptions } from "../src/kit.js";

const made: ChildProcess[] = [];
const pools: Pool<string, ChildProcess>[] = [];

/** Members are processes; a kind is how long one takes to be made, in milliseconds, or `broken`. */
function processPool(options: Partial<PoolOptions<string, ChildProcess>> = {}): Pool<string, ChildProcess> {
  const pool = new Pool<string, ChildProcess>({
    size: 2,
    keyOf: (kind) => kind,
    async make(kind, signal) {
      if (kind === "broken") throw new Error("there are no such processes");
      await new Promise((resolve) => setTimeout(resolve, Number(kind)));
      signal.throwIfAborted();
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
      made.push(child);
      await once(child, "spawn");
      return child;
    },
    gone: (child) => once(child, "exit"),
    async dispose(child) {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
    ...options,
  });
  pools.push(pool);
  return pool;
}

function living(): ChildProcess[] {
  return made.filter((child) => child.exitCode === null && child.signalCode === null);
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 10) {
    if (waited > 15_000) throw new Error("it did not come about in 15 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.drain()));
  for (const child of made.splice(0)) child.kill("SIGKILL");
});

describe("Pool", () => {
  it("hands each member out once, and fills up again", async () => {
    const pool = processPool();
    pool.keep("0");
    await until(() => living().length === 2);
    const claimed = [await pool.claim("0"), await pool.claim("0")];
    expect(new Set(claimed).size).toBe(2);
    await until(() => living().length === 4);
    expect(claimed).not.toContain(await pool.claim("0"));
  });

  it("gives what is in the making to whoever waits, and nothing to those beyond", async () => {
    const pool = processPool({ makingAtMost: 2 });
    pool.keep("50");
    const claims = await Promise.all([1, 2, 3, 4].map(() => pool.claim("50")));
    const members = claims.filter((member) => member !== undefined);
    expect(members).toHaveLength(2);
    expect(new Set(members).size).toBe(2);
  });

  it("makes no more at a time than it may", async () => {
    let [now, most] = [0, 0];
    let next = 0;
    const pool = new Pool<string, number>({
      size: 5,
      makingAtMost: 2,
      keyOf: (kind) => kind,
      async make() {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 10));
        now -= 1;
        return next++;
      },
      gone: () => new Promise(() => undefined),
      dispose: async () => undefined,
    });
    pool.keep("any");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(most).toBe(2);
    for (let taken = 0; taken < 5; taken++) expect(await pool.claim("any")).toBe(taken);
    await pool.drain();
  });

  it("has nothing of a kind that it is asked for first, and keeps it from then on", async () => {
    const pool = processPool();
    expect(await pool.claim("1")).toBeUndefined();
    await until(() => living().length === 2);
    expect(await pool.claim("1")).toBeDefined();
  });

  it("gives a ready one at once, and nothing of a kind that it does not keep, nor keeps it then", async () => {
    const pool = processPool({ size: 1 });
    expect(pool.take("0")).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(made).toEqual([]);
    pool.keep("0");
    expect(pool.take("0")).toBeUndefined();
    await until(() => living().length === 1);
    const taken = pool.take("0");
    expect(made).toEqual([taken]);
    await until(() => living().length === 2);
    expect(await pool.claim("0")).not.toBe(taken);
  });

  it("replaces members that die", async () => {
    const pool = processPool({ size: 1 });
    pool.keep("0");
    await until(() => living().length === 1);
    const [first] = living();
    first?.kill("SIGKILL");
    await until(() => living().length === 1 && living()[0] !== first);
    const claimed = await pool.claim("0");
    expect(claimed).toBeDefined();
    expect(claimed).not.toBe(first);
  });

  it("has none where they cannot be made, and says nothing: whoever makes one is told", async () => {
    const pool = processPool();
    pool.keep("broken");
    expect(await pool.claim("broken")).toBeUndefined();
    expect(await pool.claim("broken")).toBeUndefined();
  });

  it("keeps the kinds that were asked for last", async () => {
    const pool = processPool({ size: 1, maxKinds: 2 });
    pool.keep("0");
    await until(() => living().length === 1);
    const [oldest] = living();
    pool.keep("1");
    pool.keep("2");
    await until(() => made.length === 3 && living().length === 2);
    expect(living()).not.toContain(oldest);
  });

  it("gives up a claim by its signal, and the member goes to the next", async () => {
    const pool = processPool({ size: 1 });
    pool.keep("100");
    const claim = pool.claim("100", AbortSignal.timeout(10));
    await expect(claim).rejects.toMatchObject({ name: "TimeoutError" });
    await until(() => living().length > 0);
    const [only] = living();
    expect(await pool.claim("100")).toBe(only);
  });

  it("drained leaves nothing of what was ready or in the making, and has nothing any more", async () => {
    const pool = processPool();
    pool.keep("0");
    pool.keep("50");
    await until(() => living().length === 2);
    const claimed = await pool.claim("0");
    await Promise.all([pool.drain(), pool.drain()]);
    expect(living()).toEqual([claimed]);
    pool.keep("0");
    expect(await pool.claim("0")).toBeUndefined();
    expect(living()).toEqual([claimed]);
  });
});
