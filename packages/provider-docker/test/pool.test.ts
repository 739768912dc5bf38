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
  return until("so many spare containers", async () => {
    const ids = await spares();
    return holds(ids) ? ids : undefined;
  });
}

async function idOf(image: string): Promise<string> {
  return (await engine.getImage(image).inspect()).Id;
}

/** The spare container of an image that only one provider here uses, once it is there. */
async function spareOf(image: string): Promise<string> {
  const filters = { ancestor: [await idOf(image)], status: ["running"], name: ["sandkit-spare-"] };
  return until(`a spare container of ${image}`, async () => (await engine.listContainers({ filters }))[0]?.Id);
}

async function isGone(id: string): Promise<true | undefined> {
  const found = await engine.listContainers({ all: true, filters: { id: [id] } });
  return found.length === 0 ? true : undefined;
}

async function removeImage(reference: string): Promise<void> {
  const [found] = await engine.listImages({ filters: { reference: [reference] } });
  if (found) await engine.getImage(reference).remove();
}

async function until<Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> {
  for (let round = 0; round < 1_000; round++) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(20);
  }
  throw new Error(`20 s later: not yet ${what}`);
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

  it("gives each to one alone, however many ask at the same time", { timeout: 60_000 }, async () => {
    const waiting = (await usualFirst(await sparesWhen((ids) => ids.length === 4))).slice(0, 2);
    const many = await Promise.all([1, 2, 3, 4].map((owner) => sandbox({ env: { OWNER: String(owner) } })));
    const said = await Promise.all(many.map((one) => one.exec("echo $OWNER")));
    expect(said.map(({ stdout }) => stdout.text)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
    const containers = many.map((one) => containerOf(one).id);
    expect(new Set(containers).size).toBe(4);
    expect(containers).toEqual(expect.arrayContaining(waiting));
    const listed = await engine.listContainers();
    for (const one of many) {
      const name = listed.find(({ Id }) => Id === containerOf(one).id)?.Names[0];
      expect(name).toContain(`sandkit-${one.ref.id}`);
    }
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

  it("gives none of an image whose name leads to another one by now, or to none", { timeout: 60_000 }, async () => {
    const [repo, tag] = ["sandkit/pool", `test-${process.pid}`];
    const reference = `${repo}:${tag}`;
    await engine.getImage(testImages.git).tag({ repo, tag });
    const other = docker({ images: { python: reference }, pool: { size: 1 }, pull: "never" });
    try {
      const first = await spareOf(testImages.git);
      await engine.getImage(testImages.data).tag({ repo, tag });
      const one = await createSandbox(other);
      made.push(one);
      expect((await containerOf(one).inspect()).Image).toBe(await idOf(testImages.data));
      await until(`the end of container ${first}`, () => isGone(first));

      const second = await spareOf(testImages.data);
      await engine.getImage(reference).remove();
      await until(`the end of container ${second}`, async () => {
        await expect(createSandbox(other)).rejects.toMatchObject({ code: "NOT_FOUND" });
        return isGone(second);
      });
    } finally {
      await other.close?.();
      await removeImage(reference);
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
