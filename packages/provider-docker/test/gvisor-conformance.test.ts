import { spawnSync } from "node:child_process";
import { createSandbox } from "@sandkit/core";
import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { afterAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { engineIsThere, testImages } from "./engine.js";
import { SecondEngine, secondEngineIsPossible } from "./second-engine.js";

const isWanted = process.env.SANDKIT_TEST_ALL === "1";
const isPossible = engineIsThere && secondEngineIsPossible && !spawnSync("runsc", ["--version"]).error;
if (isWanted && !isPossible) console.warn("SKIPPED: gVisor is tested as root, with dockerd and runsc.");

/** Without hardware or a network, and without cgroups of its own: what works on every machine. */
const runsc = { path: "runsc", runtimeArgs: ["--platform=ptrace", "--network=none", "--ignore-cgroups"] };
const second = isWanted && isPossible ? await SecondEngine.start({ runtimes: { runsc } }) : undefined;
await second?.load(testImages.python);
afterAll(() => second?.remove(), 60_000);
const gvisor = () => docker({ host: second?.host, runtime: "runsc", images: testImages, pull: "never" });

if (second) {
  await testProvider({
    provider: gvisor,
    // Its kernel has no bound for changes that nobody takes: they are kept in memory of the sandbox's own.
    cases: conformanceCases.filter(({ id }) => id !== "files.watch.bound"),
    only: ["lifecycle", "exec", "kill", "stdin", "files", "output", "process", "kernel", "capabilities", "network"],
    timeouts: { factor: 10 },
  });
}

describe.skipIf(!second)("on gVisor", () => {
  it("declares it, and a kernel of its own answers", async () => {
    const sandbox = await createSandbox(gvisor());
    expect(sandbox.capabilities.isolation).toBe("gvisor");
    expect((await sandbox.exec("dmesg 2>&1; cat /proc/version")).stdout.text).toMatch(/gVisor|Linux version 4\.4\.0/);
    await sandbox.destroy();
  });
});
