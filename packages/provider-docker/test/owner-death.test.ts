import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { attachSandbox } from "@sandkit/core";
import { expect, it, onTestFinished } from "vitest";
import { docker } from "../src/index.js";
import { containersWith, describeOnEngine, engine, testImages } from "./engine.js";

interface Owner {
  readonly child: ChildProcess;
  readonly mark: string;
  /** The rest of the first line that begins with this. */
  line(start: string): Promise<string>;
}

/** A program of its own that makes a sandbox. */
function startOwner(mode?: "detached" | "pool"): Owner {
  const mark = randomUUID();
  const program = fileURLToPath(new URL("owner.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, testImages.python, mark, ...(mode ? [mode] : [])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const line = async (start: string) => {
    for (let round = 0; round < 2_500; round++) {
      const found = lines.find((text) => text.startsWith(start));
      if (found !== undefined) return found.slice(start.length);
      await pause(10);
    }
    throw new Error(`the owner did not say ${start}: ${lines.join(" | ")}`);
  };
  return { child, mark, line };
}

/** Kills as nothing can be caught, and waits until it is dead. */
async function kill({ child }: Owner): Promise<void> {
  const dead = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await dead;
}

/** Far from when it could come about otherwise, however busy the machine is. */
const soonMs = 20_000;

function goneSoon(mark: string): Promise<boolean> {
  return noneSoon(`sandkit.label.mark=${mark}`);
}

async function noneSoon(label: string): Promise<boolean> {
  const end = performance.now() + soonMs;
  while (performance.now() < end) {
    if ((await containersWith(label)).length === 0) return true;
    await pause(20);
  }
  return false;
}

/** Pauses a container; an engine with much to do may not get there at once. */
async function freeze(container: string): Promise<void> {
  for (let round = 0; !(await engine.getContainer(container).inspect()).State.Paused; round++) {
    if (round > 20) throw new Error(`container ${container} cannot be paused`);
    await engine
      .getContainer(container)
      .pause()
      .catch(() => pause(100));
  }
}

describeOnEngine("when its owner is killed", () => {
  it("a sandbox is gone soon, with all that runs in it", { timeout: 60_000 }, async () => {
    const owner = startOwner();
    await owner.line("ready ");
    expect(await containersWith(`sandkit.label.mark=${owner.mark}`)).toHaveLength(1);
    await kill(owner);
    expect(await goneSoon(owner.mark)).toBe(true);
  });

  it("its pool is gone too; what was claimed is found by its labels until then", { timeout: 60_000 }, async () => {
    const owner = startOwner("pool");
    // It waits for the first of its pool, which is on its way.
    const ref = JSON.parse(await owner.line("ready "));
    const listed = [];
    for await (const info of docker().list({ labels: { mark: owner.mark } })) listed.push(info.ref);
    expect(listed).toEqual([ref]);
    await expect(docker().attach(ref)).rejects.toMatchObject({ code: "UNSUPPORTED" });
    const claimed = (await engine.listContainers()).find(({ Names }) => Names[0]?.includes(ref.id));
    expect(claimed?.Labels).toHaveProperty("sandkit.spare");
    const mine = `sandkit.owner=${claimed?.Labels["sandkit.owner"]}`;
    const running = () => engine.listContainers({ filters: { label: [mine] } });
    // One that is not started yet would wait for the next sweep.
    while ((await running()).length < 3) await pause(20);
    await kill(owner);
    expect(await noneSoon(mine)).toBe(true);
  });

  it("a paused one, which cannot end by itself, is swept", { timeout: 60_000 }, async () => {
    const owner = startOwner();
    await owner.line("ready ");
    const [container = ""] = await containersWith(`sandkit.label.mark=${owner.mark}`);
    await freeze(container);
    await kill(owner);
    await docker({ images: testImages }).reap({ olderThanMs: 0 });
    expect(await goneSoon(owner.mark)).toBe(true);
  });

  it("in any phase of its creation, the next sweep leaves nothing", { timeout: 60_000 }, async () => {
    const provider = docker({ images: testImages });
    for (const delayMs of [0, 10, 25, 50, 100, 200, 400]) {
      const owner = startOwner();
      await owner.line("starting");
      await pause(delayMs);
      await kill(owner);
      // What ran ends by itself; what had not been started yet is swept.
      await pause(300);
      await provider.reap({ olderThanMs: 0 });
      expect(await goneSoon(owner.mark), `killed ${delayMs} ms after its start`).toBe(true);
    }
  });

  it("a detached sandbox lives on for others, and ends one lease after the last", { timeout: 60_000 }, async () => {
    const owner = startOwner("detached");
    const resting = startOwner("detached");
    const restingRef = JSON.parse(await resting.line("ready "));
    const [container = ""] = await containersWith(`sandkit.label.mark=${resting.mark}`);
    await freeze(container);
    await kill(resting);
    const ref = JSON.parse(await owner.line("ready "));
    await kill(owner);
    const provider = docker({ images: testImages });
    expect(await provider.reap({ olderThanMs: 0 })).not.toContainEqual(ref);
    const listed = [];
    for await (const info of provider.list({ labels: { mark: owner.mark } })) listed.push(info.ref);
    expect(listed).toEqual([ref]);
    const found = await attachSandbox(provider, ref);
    expect(await found.files.readText("mark")).toBe(owner.mark);
    // Longer than the lease: whoever is attached renews it.
    await pause(4_000);
    expect(await found.files.readText("mark")).toBe(owner.mark);
    // A paused one has outlived its lease, and everybody who knew it.
    expect(await provider.reap({ olderThanMs: 0 })).not.toContainEqual(restingRef);
    const woken = await attachSandbox(provider, restingRef);
    expect((await woken.info()).state).toBe("paused");
    await expect(woken.files.readText("mark")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await woken.resume();
    expect(await woken.files.readText("mark")).toBe(resting.mark);
    await woken.destroy();
    const other = startOwner("detached");
    await other.line("ready ");
    await kill(other);
    expect(await goneSoon(other.mark)).toBe(true);
    await found.destroy();
    expect(await goneSoon(owner.mark)).toBe(true);
  });
});
