import type { SecurityReport } from "@sandkit/core/security";
import { describe, expect, it } from "vitest";
import { describeOnEngine, dockerFolder } from "./engine.js";
import { sandkit } from "./sandkit.js";

const folder = dockerFolder();
const attack = (...args: readonly string[]) => sandkit(["doctor", "--security", ...args]);

function reportOf(stdout: string): SecurityReport {
  return JSON.parse(stdout).providers[0];
}

describeOnEngine("sandkit doctor --security in a container", { timeout: 120_000 }, () => {
  it("makes every attack, and all of them hold", async () => {
    const { code, stdout, stderr } = await attack("--config", folder.config(), "--json");
    const { findings, ok, isolation, counts } = reportOf(stdout);
    const open = findings.filter(({ outcome }) => outcome !== "held");
    expect({ code, stderr, ok, isolation, open }).toEqual({
      code: 0,
      stderr: "",
      ok: true,
      isolation: "container",
      open: [],
    });
    expect(counts).toEqual({ held: findings.length, failed: 0, permitted: 0, untried: 0 });
    expect(new Set(findings.map(({ check }) => check)).size).toBe(5);
    for (const { evidence } of findings) expect(evidence).not.toBe("");
  });
});

describe("sandkit doctor --security", { timeout: 120_000 }, () => {
  it("says of WebAssembly that all holds, with what happened", async () => {
    const { code, stdout, stderr } = await attack("wasm");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^wasm \(isolation: wasm\)\n/);
    expect(stdout).toMatch(/held +critical +reads no file of this machine\n +\S+secret.*No such file/);
    expect(stdout).toMatch(/killed by kill -9\n +owner killed by SIGKILL: the sandbox ended by itself/);
    expect(stdout).toMatch(/\nHELD {2}\d+ attacks held, 0 had what they wanted, 0 could not be made\n$/);
  });

  it("fails loudly where nothing is isolated, and says what to do", async () => {
    const { code, stdout } = await attack("@sandkit/provider-local", "--check", "processes", "--check", "files");
    expect(code).toBe(1);
    expect(stdout).toMatch(/process isolation: FAILED, \d of 9\n/);
    expect(stdout).toMatch(
      /FAILED +critical +sees and kills no process of this machine\n +saw and killed process \d+.*\n +fix {2}\w/,
    );
    expect(stdout).toMatch(/FAILED +critical +reads no file of this machine\n/);
    expect(stdout).toMatch(/FAILED +critical +leads the file calls of the caller nowhere outside by links\n/);
    expect(stdout).not.toContain("network restriction");
    expect(stdout).toMatch(/\nFAILED {2}\d+ attacks held/);
  });

  it("refuses a check that there is none of", async () => {
    expect(await attack("wasm", "--check", "vibes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("clean-up"),
    });
  });
});
