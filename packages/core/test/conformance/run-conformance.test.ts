import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { capabilities } from "../../src/capabilities.js";
import {
  type ConformanceCase,
  type ConformanceOptions,
  formatScorecard,
  runConformance,
  testProvider,
} from "../../src/conformance/index.js";
import type { SandboxInfo } from "../../src/provider.js";
import { folders } from "./folder-provider.js";

const passes: ConformanceCase = {
  id: "sample.passes",
  title: "a file is read back",
  needs: ["files"],
  async run({ shared, path }) {
    await shared.files.write(path("file"), "content");
    expect(await shared.files.readText(path("file"))).toBe("content");
  },
};
const fails: ConformanceCase = {
  id: "sample.fails",
  title: "something fails",
  needs: ["files"],
  async run({ sandbox }) {
    await (await sandbox()).files.write("left", "behind");
    throw new Error("it is broken\nin detail");
  },
};
const inapplicable: ConformanceCase = { id: "other.exec", title: "a command runs", needs: ["exec"], run: passes.run };
const cases = [passes, fails, inapplicable];

const run = (options: Partial<ConformanceOptions> = {}) =>
  runConformance({ provider: () => folders(), cases, ...options });

async function outcomes(options: Partial<ConformanceOptions>) {
  return Object.fromEntries((await run(options)).cases.map(({ id, outcome, reason }) => [id, [outcome, reason]]));
}

async function living(provider: ReturnType<typeof folders>): Promise<SandboxInfo[]> {
  const infos: SandboxInfo[] = [];
  for await (const info of provider.list()) infos.push(info);
  return infos;
}

describe("runConformance", () => {
  it("counts what passed, failed, was skipped and did not apply", async () => {
    const told: string[] = [];
    const scorecard = await runConformance({ provider: folders, cases, onCase: ({ id }) => told.push(id) });
    expect(scorecard).toMatchObject({ provider: "folders", isolation: "none", ok: false });
    expect(scorecard.counts).toEqual({ passed: 1, failed: 1, skipped: 0, "not-applicable": 1 });
    expect(scorecard.cases[1]).toMatchObject({ id: "sample.fails", outcome: "failed", reason: /broken/ });
    expect(scorecard.cases[2]).toMatchObject({
      outcome: "not-applicable",
      reason: "needs exec, which is not declared",
    });
    expect(told).toEqual(cases.map(({ id }) => id));
  });

  it("tells declared features that no passed case needs", async () => {
    expect((await run()).unproven).toEqual(["attach", "list"]);
    expect((await run({ cases: [fails] })).unproven).toEqual(["files", "attach", "list"]);
  });

  it("skips a case that fails, with the reason", async () => {
    const scorecard = await run({ skip: { "sample.fails": "folders are too simple" } });
    expect(scorecard.cases[1]).toMatchObject({ outcome: "skipped", reason: "folders are too simple" });
    expect(scorecard.ok).toBe(true);
  });

  it("fails a skipped case that passes: the skip is stale", async () => {
    const result = await outcomes({ skip: { "sample.passes": "it used to fail" } });
    expect(result["sample.passes"]).toEqual(["failed", expect.stringContaining("stale: the case passes")]);
  });

  it("fails a skipped case that would not apply anyway: the skip is stale", async () => {
    const result = await outcomes({ skip: { "other.exec": "no commands here" } });
    expect(result["other.exec"]).toEqual(["failed", expect.stringContaining("stale: needs exec")]);
  });

  it("refuses skips of unknown cases and skips without a reason", async () => {
    const error = { code: "INVALID" };
    await expect(run({ skip: { "sample.typo": "why" } })).rejects.toMatchObject(error);
    await expect(run({ skip: { "sample.typo": "why" } })).rejects.toThrow('"sample.typo" is no case');
    await expect(run({ skip: { "sample.fails": " " } })).rejects.toThrow('"sample.fails" has no reason');
  });

  it("refuses the same in testProvider, before any test is registered", async () => {
    await expect(testProvider({ provider: folders, skip: { "no.such": "why" } })).rejects.toThrow('"no.such"');
    await expect(testProvider({ provider: folders, only: ["no-such-group"] })).rejects.toThrow('"no-such-group"');
  });

  it("runs only the cases and groups asked for", async () => {
    expect(Object.keys(await outcomes({ only: ["other", "sample.passes"] }))).toEqual(["sample.passes", "other.exec"]);
    await expect(run({ only: ["sam"] })).rejects.toThrow('"sam"');
  });

  it("destroys the sandboxes of a case, also of one that failed, and the shared one at the end", async () => {
    const provider = folders();
    let during = 0;
    const counts: ConformanceCase = {
      ...passes,
      id: "sample.counts",
      run: async () => {
        during = (await living(provider)).length;
      },
    };
    await run({ provider: () => provider, cases: [passes, fails, counts] });
    expect(during).toBe(1);
    expect(await living(provider)).toEqual([]);
  });

  it("gives the cases after a failed one a shared sandbox that it has not touched", async () => {
    const seen: string[] = [];
    const note = (id: string, error?: Error): ConformanceCase => ({
      ...passes,
      id,
      async run({ shared }) {
        seen.push(shared.ref.id);
        if (error) throw error;
      },
    });
    await run({ cases: [note("sample.1"), note("sample.2", new Error("failed")), note("sample.3")] });
    expect(seen[0]).toBe(seen[1]);
    expect(seen[2]).not.toBe(seen[1]);
  });

  it("fails a case that takes longer than its limit", async () => {
    const hangs: ConformanceCase = { ...passes, id: "sample.hangs", limitMs: 100, run: () => new Promise(() => {}) };
    const result = await outcomes({ cases: [hangs] });
    expect(result["sample.hangs"]).toEqual(["failed", expect.stringContaining("100 ms")]);
    const slow: ConformanceCase = { ...hangs, run: () => pause(150) };
    const patient = await outcomes({ cases: [slow], timeouts: { factor: 20 } });
    expect(patient["sample.hangs"]?.[0]).toBe("passed");
  });

  it("fails a case during which an error came up that nobody could catch", async () => {
    const careless: ConformanceCase = {
      ...passes,
      id: "sample.careless",
      run: async () => {
        setTimeout(() => void Promise.reject(new Error("forgotten")), 5);
        await pause(50);
      },
    };
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    try {
      const result = await outcomes({ cases: [careless] });
      expect(result["sample.careless"]).toEqual(["failed", expect.stringContaining("forgotten")]);
    } finally {
      for (const listener of others) process.on("unhandledRejection", listener);
    }
  });

  it("rejects with the cause when no sandbox can be created", async () => {
    const provider = folders();
    const broken = { ...provider, create: () => Promise.reject(new Error("no backend")) };
    await expect(run({ provider: () => broken, cases: [passes] })).rejects.toThrow("no backend");
  });
});

describe("formatScorecard", () => {
  it("shows a line per group and the reason of everything that is no pass", async () => {
    const text = formatScorecard(await run({ skip: {} }));
    expect(text).toContain("folders (isolation: none): does not conform, 1 failed");
    expect(text).toMatch(/^sample +1 +1 +0 +0$/m);
    expect(text).toMatch(/^other +0 +0 +0 +1$/m);
    expect(text).toMatch(/^total +1 +1 +0 +1$/m);
    expect(text).toContain("failed: sample.fails: it is broken\n");
    expect(text).toContain("not-applicable: other.exec: needs exec");
    expect(text).toContain("declared, but not proven: attach, list");
  });

  it("says when nothing was proven", async () => {
    const nothing = folders(capabilities({ isolation: "none", features: {} }));
    const scorecard = await run({ provider: () => nothing, cases: [passes, inapplicable] });
    expect(scorecard.ok).toBe(false);
    expect(formatScorecard(scorecard)).toContain("proves nothing");
  });
});
