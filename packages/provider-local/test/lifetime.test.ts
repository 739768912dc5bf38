import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createSandbox } from "@sandkit/core";
import { describe, expect, it } from "vitest";
import { local } from "../src/index.js";

const owner = fileURLToPath(new URL("./owner.mjs", import.meta.url));

async function countRunning(marker: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.filter((line) => line.includes(marker)).length;
}

describe("the life of a sandbox", () => {
  it("leaves no process when its owner is killed, and no folder once it is reaped", async () => {
    const marker = `orphan-${Date.now()}`;
    const child = spawn(process.execPath, [owner, marker], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const { id, workdir } = JSON.parse(line);
    expect(await countRunning(marker)).toBeGreaterThan(2);
    expect(await local().reap({ olderThanMs: 0 })).not.toContainEqual({ provider: "local", id });

    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(() => countRunning(marker), { timeout: 5000 }).toBe(0);

    expect(await local().reap({ olderThanMs: 60_000 })).not.toContainEqual({ provider: "local", id });
    expect(await local().reap({ olderThanMs: 0, dryRun: true })).toContainEqual({ provider: "local", id });
    await access(workdir);
    expect(await local().reap({ olderThanMs: 0 })).toContainEqual({ provider: "local", id });
    await expect(access(workdir)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends with everything that still runs in it", async () => {
    const marker = `leftover-${Date.now()}`;
    const sandbox = await createSandbox(local());
    await sandbox.spawn(`(setsid sh -c ': ${marker}; sleep 60; :' &) ; sleep 60; : ${marker}`);
    await expect.poll(() => countRunning(marker)).toBe(2);
    await sandbox.destroy();
    expect(await countRunning(marker)).toBe(0);
    await expect(access(sandbox.workdir)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("removes folders that a program has closed", async () => {
    const sandbox = await createSandbox(local());
    await sandbox.exec("mkdir -p a/b && touch a/b/c && chmod 0 a/b a");
    await sandbox.destroy();
    await expect(access(sandbox.workdir)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("makes one sandbox of many creates of one name", async () => {
    const provider = local();
    const all = await Promise.all(Array.from({ length: 10 }, () => createSandbox(provider, { name: "shared" })));
    expect(new Set(all.map((sandbox) => sandbox.ref.id)).size).toBe(1);
    await all[0]?.destroy();
  });
});
