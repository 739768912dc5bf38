import { setTimeout as pause } from "node:timers/promises";
import { type CreateOptions, createSandbox, type Sandbox } from "@sandkit/core";
import { ownerLabel } from "@sandkit/core/kit";
import type Dockerode from "dockerode";
import { afterAll, describe, expect, it } from "vitest";
import { type DockerNative, docker } from "../src/index.js";
import { engine, engineIsThere, testImages } from "./engine.js";

const provider = docker({ images: testImages, pool: { size: 2 } });
const made: Sandbox[] = [];

async function sandbox(options: CreateOptions<DockerNative> = {}): Promise<Sandbox> {
  const one = await createSandbox(provider, options);
  made.push(one);
  return one;
}

/** Ids of this program's containers that wait for a sandbox and have begun, in any state that is not the end. */
async function spares(): Promise<string[]> {
  const label = [`sandkit.owner=${await ownerLabel()}`, "sandkit.spare"];
  const found = await engine.listContainers({ all: true, filters: { label } });
  return found
    .filter(({ Names, State }) => State === "running" && Names[0]?.startsWith("/sandkit-spare-"))
    .map(({ Id }) => Id);
}

async function sparesWhen(holds: (ids: readonly string[]) => boolean): Promise<string[]> {
  for (let round = 0; round < 1_000; round++) {
    const ids = await spares();
    if (holds(ids)) return ids;
    await pause(20);
  }
  throw new Error(`20 s later there are ${(await spares()).length} spare containers`);
}

/** In the order of their memory, the most first. */
async function usualFirst(ids: readonly string[]): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => engine.getContainer(id).inspect()));
  return found.sort((a, b) => (b.HostConfig.Memory ?? 0) - (a.HostConfig.Memory ?? 0)).map(({ Id }) => Id);
}

function containerOf(one: Sandbox): Dockerode.Container {
  return one.native<{ readonly container: Dockerode.Container }>().container;
}

afterAll(async () => {
  await Promise.all(made.map((one) => one.destroy()));
  await provider.close?.();
});

describe.skipIf(!engineIsThere)("a pool of containers", () => {
  it("is there before anybody asks, and is no sandbox", async () => {
    const waiting = await sparesWhen((ids) => ids.length === 2);
    for await (const { ref } of provider.list()) expect(waiting).not.toContain(ref.id);
    expect(await provider.reap({ olderThanMs: 0, dryRun: true })).not.toContainEqual(
      expect.objectContaining({ id: waiting[0] }),
    );
  });

  it("gives one that has waited to each sandbox, with all that its create asks for", async () => {
    const waiting = await sparesWhen((ids) => ids.length === 2);
    const one = await sandbox({
      name: "pooled",
      labels: { kind: "pooled" },
      env: { GREETING: "hello" },
      workdir: "/workspace/deep/inside",
      lifetime: { ttlMs: 60_000 },
      files: { "note.txt": "a note" },
    });
    expect(waiting).toContain(containerOf(one).id);
    const said = await one.exec('echo "$GREETING $(pwd) $(cat note.txt) $HOME"');
    expect(said.stdout.text).toBe("hello /workspace/deep/inside a note /tmp/.home\n");
    const info = await one.info();
    expect(info).toMatchObject({ ref: one.ref, name: "pooled", template: "python", labels: { kind: "pooled" } });
    expect(info.expiresAt?.getTime()).toBeGreaterThan(Date.now());
    const other = await sandbox();
    expect([...waiting, containerOf(one).id]).toContain(containerOf(other).id);
    expect(containerOf(other).id).not.toBe(containerOf(one).id);
    const users = await Promise.all([one, other].map((each) => each.exec(["id", "-u"])));
    expect(users[0]?.stdout.text).not.toBe(users[1]?.stdout.text);
    await expect(sandbox({ name: "pooled" })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("makes another kind anew, and then holds it too", { timeout: 60_000 }, async () => {
    await sparesWhen((ids) => ids.length === 2);
    const small = { resources: { memoryMiB: 256 } };
    const first = await sandbox(small);
    expect((await containerOf(first).inspect()).Config.Labels).not.toHaveProperty("sandkit.spare");
    await sparesWhen((ids) => ids.length === 4);
    const second = await containerOf(await sandbox(small)).inspect();
    expect(second.HostConfig.Memory).toBe(256 << 20);
    expect(second.Config.Labels).toHaveProperty("sandkit.spare");
  });

  it("never gives one that died or was paused while it waited", { timeout: 60_000 }, async () => {
    const [paused = "", killed = "", ...small] = await usualFirst(await sparesWhen((ids) => ids.length === 4));
    await engine.getContainer(paused).pause();
    await engine.getContainer(killed).kill();
    for (const one of [await sandbox(), await sandbox()]) {
      expect((await one.exec("echo works")).stdout.text).toBe("works\n");
      expect([paused, killed, ...small]).not.toContain(containerOf(one).id);
    }
    const later = await sparesWhen((ids) => ids.length === 4);
    expect(later).toEqual(expect.arrayContaining(small));
    await expect(engine.getContainer(paused).inspect()).rejects.toMatchObject({ statusCode: 404 });
  });

  it("has nothing for labels that fit into no name, nor for a detached sandbox: their containers are new", async () => {
    const labels = { long: "x".repeat(5_000) };
    const one = await sandbox({ labels });
    expect((await one.info()).labels).toEqual(labels);
    const detached = await sandbox({ lifetime: { detached: true } });
    for (const each of [one, detached]) {
      expect((await containerOf(each).inspect()).Config.Labels).not.toHaveProperty("sandkit.spare");
    }
  });

  it("is gone once the provider is closed; sandboxes go on, and more can be made", async () => {
    await provider.close?.();
    expect(await spares()).toEqual([]);
    const last = await sandbox();
    for (const one of [made[0], last]) expect((await one?.exec("echo on"))?.stdout.text).toBe("on\n");
    expect(await spares()).toEqual([]);
  });
});
