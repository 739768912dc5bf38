import { once } from "node:events";
import { access, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import {
  attachSandbox,
  type BackendHealth,
  balance,
  type CreateOptions,
  createSandbox,
  type Provider,
  type Sandbox,
} from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { local } from "../src/index.js";

let folder: string;
const made: Sandbox[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-balance-"));
});
afterAll(async () => {
  await Promise.all(made.map((one) => one.destroy()));
  await rm(folder, { recursive: true, force: true });
});

async function sandbox(provider: Provider, options?: CreateOptions): Promise<Sandbox> {
  const one = await createSandbox(provider, options);
  made.push(one);
  return one;
}

function keyOf({ ref }: Sandbox): string {
  return ref.id.slice(0, ref.id.indexOf("."));
}

/** A backend that cannot do anything until it is mended. */
function brokenBackend(name: string): { readonly provider: Provider; mend(): Promise<void> } {
  // A version manager's own python3 looks at how it is called.
  const python = join(folder, name, "python3");
  return {
    provider: local({ python }),
    async mend() {
      await mkdir(join(folder, name));
      await symlink(await findPython(), python);
    },
  };
}

async function findPython(): Promise<string> {
  for (const place of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(place, "python3");
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  throw new Error("there is no python3");
}

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 10) {
    if (waited > 10_000) throw new Error("it did not come about in 10 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("balance", () => {
  it("goes to the next when the first fails, passes over who fails thrice, and comes back", async () => {
    const broken = brokenBackend("first");
    const health: BackendHealth[] = [];
    const progress: string[] = [];
    const provider = balance(
      { first: broken.provider, second: local() },
      { recheckMs: 20, onHealth: (change) => health.push(change) },
    );
    const create = () => sandbox(provider, { onProgress: (message) => progress.push(message) });
    for (let round = 0; round < 3; round++) expect(keyOf(await create())).toBe("second");
    expect(health).toEqual([{ backend: "first", state: "ERROR", reason: expect.stringContaining("python3") }]);
    expect(progress).toHaveLength(3);
    expect(keyOf(await create())).toBe("second");
    expect(progress).toHaveLength(3);
    expect(await provider.check()).toMatchObject({ ok: true, detail: expect.stringContaining("first: not usable: ") });

    await broken.mend();
    await until(() => health.length === 2);
    expect(health[1]).toEqual({ backend: "first", state: "IDLE" });
    expect(keyOf(await create())).toBe("first");
    await provider.close?.();
  });

  it("tries all again when all have failed", async () => {
    const [a, b] = [brokenBackend("a"), brokenBackend("b")];
    const health: BackendHealth[] = [];
    const provider = balance({ a: a.provider, b: b.provider }, { failures: 1, onHealth: (one) => health.push(one) });
    await expect(createSandbox(provider)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/no backend could make the sandbox: a: .*; b: /),
    });
    await b.mend();
    expect(keyOf(await sandbox(provider))).toBe("b");
    expect(health.map(({ backend, state }) => `${backend} ${state}`).slice(0, 4)).toEqual([
      "a ERROR",
      "b ERROR",
      "a IDLE",
      "b IDLE",
    ]);
    await provider.close?.();
  });

  it("is not disturbed by a listener that fails", async () => {
    const broken = brokenBackend("listened");
    const onHealth = () => {
      throw new Error("of the listener");
    };
    const provider = balance({ first: broken.provider, second: local() }, { failures: 1, onHealth });
    const warned = once(process, "warning");
    expect(keyOf(await sandbox(provider))).toBe("second");
    expect((await warned)[0].message).toBe("of the listener");
    await provider.close?.();
  });

  it("finds the living sandbox of a name wherever it is, and makes no second one", async () => {
    const broken = brokenBackend("named");
    const second = local();
    const states: string[] = [];
    const onHealth = ({ state }: BackendHealth) => states.push(state);
    const provider = balance({ first: broken.provider, second }, { failures: 1, recheckMs: 20, onHealth });
    const one = await sandbox(provider, { name: "job" });
    expect(keyOf(one)).toBe("second");
    await broken.mend();
    await until(() => states.at(-1) === "IDLE");
    const again = await Promise.all([1, 2, 3].map(() => sandbox(provider, { name: "job" })));
    for (const each of again) expect(each.ref).toEqual(one.ref);
    await expect(createSandbox(provider, { name: "job", env: { A: "1" } })).rejects.toMatchObject({ code: "CONFLICT" });

    const direct = await sandbox(second, { name: "made-elsewhere" });
    const found = await sandbox(provider, { name: "made-elsewhere" });
    expect(found.ref.id).toBe(`second.${direct.ref.id}`);
    expect((await found.info()).origin).toBe("attached");
    await one.destroy();
    expect(keyOf(await sandbox(provider, { name: "job" }))).toBe("first");
  });

  it("spreads over those who hold fewest, and keeps together what has the same label", async () => {
    const spread = balance({ a: local(), b: local() }, { policy: "least-sessions", affinity: "project" });
    const many = await Promise.all([1, 2, 3, 4].map(() => sandbox(spread)));
    expect(many.map(keyOf).sort()).toEqual(["a", "a", "b", "b"]);
    await Promise.all(many.filter((one) => keyOf(one) === "b").map((one) => one.destroy()));
    expect(keyOf(await sandbox(spread))).toBe("b");
    const labelled = await Promise.all([1, 2, 3].map(() => sandbox(spread, { labels: { project: "x" } })));
    expect(new Set(labelled.map(keyOf)).size).toBe(1);
    const listed = [];
    for await (const { ref } of spread.list({ labels: { project: "x" } })) listed.push(ref);
    expect(listed).toEqual(expect.arrayContaining(labelled.map(({ ref }) => ref)));
    const [first] = labelled;
    const attached = first && (await attachSandbox(spread, first.ref));
    expect(await attached?.info()).toMatchObject({ ref: first?.ref, labels: { project: "x" } });
  });

  it("asks only those that can do it, and says why nobody can", async () => {
    const provider = balance({ plain: local(), agent: local({ agent: "python" }) });
    expect(keyOf(await sandbox(provider, { native: { plain: {} } }))).toBe("agent");
    await expect(createSandbox(provider, { image: "any" })).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringMatching(/plain: .*"image".*agent: .*"image"/),
    });
    await expect(createSandbox(provider, { native: { other: {} } as object })).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  it("refuses keys that fit into no ref, and refs of nobody", async () => {
    expect(() => balance({})).toThrow("at least one");
    expect(() => balance({ "a.b": local() })).toThrow("must be");
    const provider = balance({ only: local() });
    await expect(provider.attach({ provider: "balance", id: "other.1" })).rejects.toMatchObject({ code: "INVALID" });
    expect(await provider.attach({ provider: "balance", id: "only.1" })).toBeNull();
  });
});
