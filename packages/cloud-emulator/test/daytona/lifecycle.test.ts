import {
  DaytonaAuthenticationError,
  DaytonaConflictError,
  DaytonaForbiddenError,
  DaytonaNotFoundError,
  DaytonaValidationError,
  Image,
} from "@daytonaio/sdk";
import { local } from "@sandkit/provider-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, client, startCloud } from "./cloud.js";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ templates: { "debian:12": {} } });
});
afterAll(() => cloud[Symbol.asyncDispose]());

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("a sandbox", () => {
  it("is made, found by id and by name, stopped, started and deleted", async () => {
    const { daytona } = cloud;
    const sandbox = await daytona.create({ name: "one", labels: { owner: "me" }, envVars: { GREETING: "hello" } });
    expect(sandbox.state).toBe("started");
    expect(sandbox.labels).toMatchObject({ owner: "me", "code-toolbox-language": "python" });
    expect((await daytona.get("one")).id).toBe(sandbox.id);
    expect((await daytona.get(sandbox.id)).env).toEqual({ GREETING: "hello" });

    await sandbox.fs.uploadFile(Buffer.from("kept"), "kept.txt");
    await sandbox.process.executeCommand("setsid sleep 60 >/dev/null 2>&1 & echo $! >pid");
    await sandbox.stop();
    expect(sandbox.state).toBe("stopped");
    await sandbox.start();
    expect((await sandbox.fs.downloadFile("kept.txt")).toString()).toBe("kept");
    const check = await sandbox.process.executeCommand('kill -0 "$(cat pid)" || echo gone; echo $GREETING');
    expect(check.result).toMatch(/gone\nhello\n$/);

    await sandbox.delete(60, true);
    await expect(daytona.get("one")).rejects.toThrow(DaytonaNotFoundError);
  });

  it("goes through the states that the service has", async () => {
    const slow = await startCloud({ quirks: { stateDelayMs: 1_000 } });
    const sandbox = await slow.daytona.create();
    const asked = slow.emulator.requests.filter(({ path }) => path === `/api/sandbox/${sandbox.id}`);
    expect(asked.length).toBeGreaterThan(1);
    const other = await slow.daytona.get(sandbox.id);
    const stopping = sandbox.stop();
    while (other.state === "started") await other.refreshData();
    expect(other.state).toBe("stopping");
    await expect(other.delete()).rejects.toThrow(DaytonaConflictError);
    await expect(other.start()).rejects.toThrow(DaytonaConflictError);
    await stopping;
    await expect(other.stop()).rejects.toThrow(DaytonaValidationError);
    await sandbox.archive();
    expect(sandbox.state).toBe("archiving");
    while (sandbox.state !== "archived") await sandbox.refreshData();
    await sandbox.start();
    expect(sandbox.state).toBe("started");
    await slow[Symbol.asyncDispose]();
  });

  it("has its name alone", async () => {
    const sandbox = await cloud.daytona.create({ name: "taken" });
    await expect(cloud.daytona.create({ name: "taken" })).rejects.toThrow(DaytonaConflictError);
    await sandbox.delete(60, true);
    await (await cloud.daytona.create({ name: "taken" })).delete();
  });

  it("has labels that are replaced as a whole", async () => {
    const sandbox = await cloud.daytona.create({ labels: { a: "1", b: "2" } });
    await sandbox.setLabels({ b: "3" });
    expect((await cloud.daytona.get(sandbox.id)).labels).toEqual({ b: "3" });
    await sandbox.delete();
  });

  it("takes resources with an image, and not with a snapshot", async () => {
    const resources = { cpu: 2, memory: 3, disk: 4 };
    const sandbox = await cloud.daytona.create({ image: "debian:12", resources });
    expect(sandbox).toMatchObject(resources);
    await sandbox.delete();
    await expect(cloud.daytona.create({ snapshot: "daytona-small", resources } as never)).rejects.toThrow(/resources/);
  });

  it("is not made from what is not there", async () => {
    await expect(cloud.daytona.create({ snapshot: "nothing" })).rejects.toThrow(DaytonaValidationError);
    await expect(cloud.daytona.create({ image: "nothing:1" })).rejects.toThrow(/build_failed.*not among the templates/);
    const built = Image.base("debian:12").runCommands("true");
    await expect(cloud.daytona.create({ image: built })).rejects.toThrow(/build_failed.*Dockerfile/);
  });

  it("is refused with what this emulator does not have, by name", async () => {
    const refused = { user: "somebody", outboundProxyUrl: "http://127.0.0.1:1", networkBlockAll: true };
    for (const [option, value] of Object.entries(refused)) {
      const error = await cloud.daytona.create({ [option]: value }).catch((reason) => reason);
      expect(error).toMatchObject({ statusCode: 501, source: "DAYTONA_API", code: "NOT_IMPLEMENTED" });
    }
  });

  it("tells what it uses, and where it works", async () => {
    const sandbox = await cloud.daytona.create();
    expect((await sandbox.getMetricsLatest()).memTotal).toBeGreaterThan(0);
    const { result } = await sandbox.process.executeCommand("pwd; echo $HOME");
    expect(result).toBe(`${await sandbox.getWorkDir()}\n${await sandbox.getUserHomeDir()}\n`);
    await sandbox.updateEnv({ ADDED: "yes" });
    expect((await sandbox.process.executeCommand("echo $ADDED")).result).toBe("yes\n");
    await sandbox.delete();
  });

  it("cannot be paused or forked as a container", async () => {
    const sandbox = await cloud.daytona.create();
    await expect(sandbox.pause()).rejects.toThrow(DaytonaValidationError);
    await expect(sandbox.fork()).rejects.toThrow(DaytonaValidationError);
    await expect(sandbox.recover()).rejects.toThrow(DaytonaValidationError);
    await sandbox.delete();
  });
});

describe("sandboxes", () => {
  it("are listed page by page, by labels and states", async () => {
    const made = [];
    for (const shade of ["light", "dark", "dark", "dark"]) {
      made.push(await cloud.daytona.create({ labels: { kind: "paged", shade } }));
    }
    const ids = (await all(cloud.daytona.list({ labels: { kind: "paged" }, limit: 2 }))).map(({ id }) => id);
    expect(ids.sort()).toEqual(made.map(({ id }) => id).sort());
    expect(await all(cloud.daytona.list({ labels: { kind: "paged", shade: "dark" } }))).toHaveLength(3);
    await made[0]?.stop();
    expect(await all(cloud.daytona.list({ labels: { kind: "paged" }, states: ["stopped"] }))).toHaveLength(1);
    for (const sandbox of made) await sandbox.delete();
  });

  it("are refused above the quota", async () => {
    const small = await startCloud({ quota: 1 });
    const first = await small.daytona.create();
    await expect(small.daytona.create()).rejects.toThrow(DaytonaForbiddenError);
    await first.delete(60, true);
    await small.daytona.create();
    await small[Symbol.asyncDispose]();
  });

  it("are for those who have a key", async () => {
    const stranger = client(cloud.emulator, "wrong");
    await expect(stranger.create()).rejects.toThrow(DaytonaAuthenticationError);
    await expect(all(stranger.list())).rejects.toThrow(DaytonaAuthenticationError);
    const sandbox = await cloud.daytona.create();
    const inside = await fetch(`${sandbox.toolboxProxyUrl}/${sandbox.id}/process/execute`, { method: "POST" });
    expect(inside.status).toBe(401);
    await sandbox.delete();
  });

  it("are gone when the emulator is", async () => {
    const provider = local();
    const short = await startCloud({ provider });
    await short.daytona.create();
    expect(await all(provider.list())).not.toEqual([]);
    await short[Symbol.asyncDispose]();
    expect(await all(provider.list())).toEqual([]);
  });
});
