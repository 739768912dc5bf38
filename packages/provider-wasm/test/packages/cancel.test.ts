import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

const index = new LocalIndex();
let cacheDir = "";
let sandbox: Sandbox;
/** Requests that are under way, and are never answered. */
let open = 0;

const make = () => createSandbox(wasm({ packages: { indexUrl: index.url, cacheDir } }), { network: "packages" });

beforeAll(async () => {
  await index.start();
  cacheDir = await mkdtemp(join(tmpdir(), "sandkit-cancel-"));
  index.add(makeWheel("leaf", "1.0"));
  index.answer("/simple/silent/", (_, response) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
  });
  sandbox = await make();
});
afterAll(async () => {
  await sandbox.destroy();
  await index.stop();
  await rm(cacheDir, { recursive: true });
});

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 20) {
    if (waited > 15_000) throw new Error("it did not come about in 15 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const asked = () => until(() => open === 1);
const givenUp = () => until(() => open === 0);

/** It does not wait for what was given up. */
async function installsAtOnce(): Promise<void> {
  await givenUp();
  const outcome = await sandbox.exec(["pip", "install", "--force-reinstall", "leaf"], { timeoutMs: 30_000 });
  expect(outcome).toMatchObject({ exitCode: 0, stdout: { text: expect.stringContaining("leaf-1.0") } });
}

describe("an installation that nobody waits for any more is given up:", () => {
  it("of a cell that is interrupted", async () => {
    const kernel = await sandbox.kernel({ language: "python", id: "patient" });
    await kernel.run("kept = 1");
    const cell = kernel.run("%pip install silent");
    await asked();
    expect(await kernel.interrupt()).toEqual({ stateLost: false });
    expect(await cell).toMatchObject({ error: { name: "KeyboardInterrupt" } });
    expect((await kernel.run("kept")).value).toBe(1);
    await installsAtOnce();
  });

  it("of a command that is killed", async () => {
    const process = await sandbox.spawn(["pip", "install", "silent"]);
    await asked();
    for (const harmless of ["SIGCONT", "SIGWINCH"]) await process.kill(harmless);
    expect(open).toBe(1);
    await process.kill("SIGTERM");
    expect(await process.wait()).toMatchObject({ exitCode: null, signal: "SIGTERM" });
    await installsAtOnce();
  });

  it.each(["SIGINT", "SIGKILL"])("of a shell that gets %s", async (signal) => {
    const process = await sandbox.spawn("pip install silent; echo after");
    await process.closeStdin();
    await asked();
    await process.kill(signal);
    expect(await process.wait()).toMatchObject({ exitCode: null, signal, stdout: { text: "" } });
    await installsAtOnce();
  });

  it("by the shell's timeout", async () => {
    const outcome = await sandbox.exec("timeout 1 pip install silent; echo $?", { timeoutMs: 30_000 });
    expect(outcome.stdout.text).toMatch(/124\n$/);
    await installsAtOnce();
  });

  it("of a kernel that is restarted", async () => {
    const kernel = await sandbox.kernel({ language: "python", id: "doomed" });
    const cell = kernel.run("%pip install silent");
    await asked();
    await kernel.restart();
    expect(await cell).toMatchObject({ stateLost: true });
    await installsAtOnce();
  });

  it("while it waits for another one", async () => {
    const first = await sandbox.spawn(["pip", "install", "silent"]);
    await asked();
    const second = await sandbox.exec(["pip", "install", "leaf"], { timeoutMs: 300 });
    expect(second).toMatchObject({ reason: "timeout" });
    await first.kill("SIGKILL");
    await first.wait();
    await installsAtOnce();
  });
});

describe("a sandbox that is destroyed", () => {
  it("ends its installations, of commands and of cells", async () => {
    const doomed = await make();
    const process = await doomed.spawn(["pip", "install", "silent"]);
    const cell = doomed.runCode("%pip install other");
    await asked();
    const lost = [process.wait(), cell].map((work) => expect(work).rejects.toMatchObject({ code: "SANDBOX_LOST" }));
    await doomed.destroy();
    await Promise.all(lost);
    await givenUp();
  });

  it("keeps no program alive", async () => {
    const owner = spawn(process.execPath, [new URL("installing.mjs", import.meta.url).pathname, index.url, cacheDir], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const code = new Promise((resolve) => owner.on("exit", resolve));
    await asked();
    owner.send("destroy");
    expect(await code).toBe(0);
    await givenUp();
  }, 60_000);
});
