import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { containersOf, describeOnEngine, dockerFolder, pauseContainer } from "./engine.js";
import { start } from "./sandkit.js";

const folder = dockerFolder();
const run = (code: string, ...args: readonly string[]) =>
  start(["run", "--config", folder.config(), ...args, "-e", code]);

const sleeper = "import time\nprint('ready', flush=True)\ntime.sleep(60)";
const stubborn =
  "import signal, time\nfor name in ('INT', 'TERM', 'HUP'): signal.signal(getattr(signal, 'SIG' + name), lambda *_: print('no', flush=True))\nprint('ready', flush=True)\nwhile True: time.sleep(1)";

describeOnEngine("a signal to sandkit run in a container", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends a program that sleeps, and the container with it: %i", async (signal, code) => {
    const { child, printed, outcome } = run(sleeper);
    await printed("ready");
    child.kill(signal);
    expect(await outcome).toMatchObject({ code, stdout: "ready\n" });
    expect(await containersOf(child.pid)).toEqual([]);
  });

  it("a second SIGINT ends a program that ignores the first", async () => {
    const { child, printed, outcome } = run(stubborn);
    await printed("ready");
    child.kill("SIGINT");
    await printed("no");
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
    expect(await containersOf(child.pid)).toEqual([]);
  });

  it.each([0, 200, 400])("%i ms after the start leaves no container", async (delayMs) => {
    const { child, outcome } = run(sleeper);
    await pause(delayMs);
    child.kill("SIGTERM");
    expect((await outcome).code).toBe(143);
    expect(await containersOf(child.pid)).toEqual([]);
  });

  it.each([
    ["is there", /./],
    ["runs", /running/],
  ])("once its container %s leaves none when the command has ended", async (_, state) => {
    const { child, outcome } = run(sleeper);
    while (!state.test((await containersOf(child.pid)).join())) await pause(5);
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
    expect(await containersOf(child.pid)).toEqual([]);
  });

  it("ends a container that somebody has paused", { timeout: 60_000 }, async () => {
    const { child, printed, outcome } = run(sleeper);
    await printed("ready");
    await pauseContainer(child.pid);
    child.kill("SIGINT");
    await pause(200);
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
    expect(await containersOf(child.pid)).toEqual([]);
  });

  it("while Rust compiles ends the compiler", { timeout: 60_000 }, async () => {
    const endless = "fn main() { let mut n = 0u64; loop { n += 1; if n == 0 { break } } }";
    const { child, outcome } = run(endless, "--language", "rust");
    while ((await containersOf(child.pid))[0] !== "running") await pause(20);
    await pause(300);
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
    expect(await containersOf(child.pid)).toEqual([]);
  });

  it("is what a reader who has gone is: 141, and no container", async () => {
    const { child, printed, outcome } = run("while True: print('line')");
    await printed("line");
    child.stdout.destroy();
    expect((await outcome).code).toBe(141);
    expect(await containersOf(child.pid)).toEqual([]);
  });
});
