import { E2B } from "e2b";
import { afterEach, describe, expect, it } from "vitest";
import { Clock } from "../../src/index.js";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;
afterEach(() => cloud.emulator.close());

async function api(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
  const { url, apiKey } = cloud.emulator;
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const answer = await fetch(url + path, { headers, ...init });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : JSON.parse(text), headers: answer.headers };
}

describe("the life of a sandbox of the emulated E2B", () => {
  it("ends at its time, which can be moved", async () => {
    const clock = new Clock({ stopped: true });
    cloud = await startCloud({ clock });
    const sandbox = await cloud.client.Sandbox.create({ timeoutMs: 60_000 });
    await clock.advance(59_000);
    expect(await sandbox.isRunning()).toBe(true);
    await sandbox.setTimeout(10_000);
    await clock.advance(9_000);
    expect(await sandbox.isRunning()).toBe(true);
    await cloud.client.Sandbox.connect(sandbox.sandboxId, { timeoutMs: 30_000 });
    await clock.advance(29_000);
    await cloud.client.Sandbox.connect(sandbox.sandboxId, { timeoutMs: 500 });
    expect(await sandbox.isRunning()).toBe(true);
    await clock.advance(1_000);
    expect(await sandbox.isRunning()).toBe(false);
    await expect(sandbox.getInfo()).rejects.toMatchObject({ name: "SandboxNotFoundError" });
    await expect(sandbox.commands.run("true")).rejects.toMatchObject({ name: "SandboxNotFoundError" });
    await expect(sandbox.files.read("a")).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("ends under a running command, whose client is told", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create();
    const handle = await sandbox.commands.run("sleep 60", { background: true });
    await sandbox.kill();
    await expect(handle.wait()).rejects.toMatchObject({
      name: "TimeoutError",
      message: expect.stringContaining("killed or reached its end of life"),
    });
  });

  it("is five minutes when nothing is said", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create();
    const { startedAt, endAt } = await sandbox.getInfo();
    expect(endAt.getTime() - startedAt.getTime()).toBe(300_000);
  });

  it("is not taken beyond the longest", async () => {
    cloud = await startCloud({ maxTimeoutSeconds: 3600 });
    await expect(cloud.client.Sandbox.create({ timeoutMs: 3_601_000 })).rejects.toThrow(
      "Timeout cannot be greater than 1 hours",
    );
  });

  it("is paused and goes on where it was, three times", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create({ timeoutMs: 60_000 });
    const script = "i=0; while :; do i=$((i+1)); echo $i > count; sleep 0.02; done";
    const { pid } = await sandbox.commands.run(script, { background: true, timeoutMs: 0 });
    for (let cycle = 0; cycle < 3; cycle += 1) {
      await expect.poll(() => sandbox.files.exists("count")).toBe(true);
      expect(await sandbox.pause()).toBe(true);
      expect(await sandbox.pause()).toBe(false);
      expect((await sandbox.getInfo()).state).toBe("paused");
      await expect(sandbox.commands.run("true")).rejects.toMatchObject({ name: "SandboxNotFoundError" });
      const paused = await cloud.client.Sandbox.list({ query: { state: ["paused"] } }).nextItems();
      expect(paused).toHaveLength(1);
      await cloud.emulator.clock.advance(3_600_000);
      await sandbox.connect({ timeoutMs: 60_000 });
      expect((await sandbox.getInfo()).state).toBe("running");
      expect((await sandbox.commands.list()).map((process) => process.pid)).toEqual([pid]);
      await sandbox.files.remove("count");
    }
    await expect.poll(() => sandbox.files.exists("count")).toBe(true);
  });

  it("is paused at its time instead, if asked for, and resumed by traffic", async () => {
    cloud = await startCloud();
    const lifecycle = { onTimeout: "pause" as const, autoResume: true };
    const sandbox = await cloud.client.Sandbox.create({ timeoutMs: 60_000, lifecycle });
    await cloud.emulator.clock.advance(61_000);
    expect(await sandbox.getInfo()).toMatchObject({ state: "paused", lifecycle });
    expect((await sandbox.commands.run("echo back")).stdout).toBe("back\n");
    expect((await sandbox.getInfo()).state).toBe("running");
  });

  it("loses its processes in a pause without memory, not its files", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create();
    await sandbox.files.write("kept", "here");
    await sandbox.commands.run("sleep 60", { background: true });
    await sandbox.pause({ keepMemory: false });
    await sandbox.connect();
    expect(await sandbox.commands.list()).toEqual([]);
    expect(await sandbox.files.read("kept")).toBe("here");
  });

  it("is copied: by a fork, and by snapshots that outlive it", async () => {
    cloud = await startCloud();
    const { Sandbox } = cloud.client;
    const sandbox = await Sandbox.create({ envs: { KEPT: "too" } });
    await sandbox.commands.run("mkdir -p a/b && echo text > a/b/c && chmod 700 a/b/c && ln -s a/b/c link");
    const [fork] = await sandbox.fork({ count: 1 });
    if (!(fork instanceof Sandbox)) throw fork;
    expect(fork.sandboxId).not.toBe(sandbox.sandboxId);
    const snapshot = await sandbox.createSnapshot({ name: "state" });
    expect(snapshot.names).toEqual(["state"]);
    await sandbox.kill();
    expect((await fork.commands.run("./a/b/c; cat link; echo $KEPT")).stdout).toBe("text\ntoo\n");
    for (const template of [snapshot.snapshotId, "state"]) {
      const again = await Sandbox.create(template);
      expect((await again.commands.run("cat a/b/c; echo $KEPT")).stdout).toBe("text\ntoo\n");
    }
    expect(await Sandbox.listSnapshots().nextItems()).toEqual([snapshot]);
    expect(await Sandbox.deleteSnapshot(snapshot.snapshotId)).toBe(true);
    expect(await Sandbox.deleteSnapshot(snapshot.snapshotId)).toBe(false);
    await expect(Sandbox.create("state")).rejects.toThrow("template 'state' not found");
  });
});

describe("the control API of the emulated E2B", () => {
  it("lists by pages, filters and order", async () => {
    cloud = await startCloud({ templates: { special: {} } });
    const { Sandbox } = cloud.client;
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      const template = name === "c" ? "special" : "base";
      ids.push((await Sandbox.create(template, { metadata: { name, all: "yes" } })).sandboxId);
    }
    const pages = Sandbox.list({ limit: 2 });
    const seen: string[][] = [];
    while (pages.hasNext) seen.push((await pages.nextItems()).map(({ sandboxId }) => sandboxId));
    expect(seen).toEqual([[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]);
    const asc = await Sandbox.list({ order: "asc" }).nextItems();
    expect(asc.map(({ sandboxId }) => sandboxId)).toEqual(ids);
    expect(await Sandbox.list({ query: { metadata: { all: "yes", name: "b" } } }).nextItems()).toHaveLength(1);
    expect(await Sandbox.list({ query: { template: "special" } }).nextItems()).toHaveLength(1);
    expect(await Sandbox.list({ query: { startedAfter: new Date(Date.now() + 60_000) } }).nextItems()).toEqual([]);
    expect((await api("/v2/sandboxes?nextToken=nonsense")).status).toBe(400);
    expect((await api("/v2/sandboxes?limit=1000")).status).toBe(400);
  });

  it("goes on with a page after sandboxes have gone", async () => {
    cloud = await startCloud();
    const { Sandbox } = cloud.client;
    const made = [await Sandbox.create(), await Sandbox.create(), await Sandbox.create()];
    const pages = Sandbox.list({ limit: 1 });
    const [first] = await pages.nextItems();
    await made[2]?.kill();
    const [second] = await pages.nextItems();
    expect([first?.sandboxId, second?.sandboxId]).toEqual([made[2]?.sandboxId, made[1]?.sandboxId]);
  });

  it("serves the older paths as well", async () => {
    cloud = await startCloud();
    const created = await api("/sandboxes", { method: "POST", body: JSON.stringify({ templateID: "base" }) });
    expect(created).toMatchObject({ status: 201, body: { templateID: "base" } });
    const { sandboxID, envdAccessToken } = created.body as { sandboxID: string; envdAccessToken?: string };
    expect(envdAccessToken).toBeUndefined();
    expect(await api("/sandboxes")).toMatchObject({ status: 200, body: [{ sandboxID }] });
    const connect = { method: "POST", body: JSON.stringify({ timeout: 100 }) };
    expect((await api(`/sandboxes/${sandboxID}/connect`, connect)).status).toBe(200);
    expect((await api(`/sandboxes/${sandboxID}-6532622b`)).status).toBe(200);
    const refresh = { method: "POST", body: JSON.stringify({ duration: 200 }) };
    expect((await api(`/sandboxes/${sandboxID}/refreshes`, refresh)).status).toBe(204);
    expect((await api(`/sandboxes/${sandboxID}/pause`, { method: "POST" })).status).toBe(204);
    expect((await api(`/sandboxes/${sandboxID}/resume`, { method: "POST" })).status).toBe(201);
    expect((await api(`/sandboxes/${sandboxID}/resume`, { method: "POST" })).status).toBe(409);
  });

  it("wants a key, and envd the token of its sandbox", async () => {
    cloud = await startCloud({ apiKeys: ["e2b_one", "e2b_two"] });
    const { url } = cloud.emulator;
    const known = new E2B({ apiKey: "e2b_two", apiUrl: url, sandboxUrl: url });
    const sandbox = await known.Sandbox.create();
    const stranger = new E2B({ apiKey: "e2b_three", apiUrl: url, sandboxUrl: url });
    await expect(stranger.Sandbox.create()).rejects.toMatchObject({ name: "AuthenticationError" });
    const headers = { "e2b-sandbox-id": sandbox.sandboxId, "content-type": "application/json" };
    const list = await fetch(`${url}/process.Process/List`, { method: "POST", headers, body: "{}" });
    expect(list.status).toBe(401);
    expect((await fetch(`${url}/health`, { headers })).status).toBe(204);
  });

  it("takes a key no more once that has expired", async () => {
    const apiKeys = ["e2b_soon_over"];
    cloud = await startCloud({ apiKeys });
    const sandbox = await cloud.client.Sandbox.create();
    apiKeys.pop();
    await expect(sandbox.getInfo()).rejects.toMatchObject({ name: "AuthenticationError" });
    expect((await sandbox.commands.run("echo still")).stdout).toBe("still\n");
  });

  it("stops at the quota, where paused ones do not count", async () => {
    cloud = await startCloud({ quota: 1 });
    const { Sandbox } = cloud.client;
    const sandbox = await Sandbox.create();
    await expect(Sandbox.create({ retries: 0 })).rejects.toMatchObject({ name: "RateLimitError" });
    await sandbox.pause();
    await Sandbox.create();
  });

  it("refuses what it does not know or have", async () => {
    cloud = await startCloud();
    const { Sandbox } = cloud.client;
    await expect(Sandbox.create("no-such")).rejects.toThrow("template 'no-such' not found");
    await expect(Sandbox.create({ volumeMounts: { "/data": "v" } })).rejects.toThrow("not emulated");
    expect((await api("/volumes")).status).toBe(501);
    expect((await api("/v2/sandboxes", { method: "POST", body: "{" })).status).toBe(400);
    expect((await api("/v2/sandboxes", { method: "DELETE" })).status).toBe(405);
  });

  it("refuses a network that the provider cannot enforce, unless it is only to be recorded", async () => {
    cloud = await startCloud({ network: "refuse" });
    await expect(cloud.client.Sandbox.create({ allowInternetAccess: false })).rejects.toThrow('"network.none"');
    await cloud.client.Sandbox.create();
    await cloud.emulator.close();
    cloud = await startCloud();
    const network = { allowOut: ["example.com"], denyOut: ["0.0.0.0/0"] };
    const sandbox = await cloud.client.Sandbox.create({ network });
    expect((await sandbox.getInfo()).network).toEqual(network);
    await sandbox.updateNetwork({ allowInternetAccess: false });
    expect(await sandbox.getInfo()).toMatchObject({ allowInternetAccess: false, network: {} });
  });

  it("measures the machine", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create();
    const [metrics] = await sandbox.getMetrics();
    expect(metrics?.memUsed).toBeGreaterThan(0);
    expect(metrics?.diskTotal).toBeGreaterThan(metrics?.diskUsed ?? 0);
  });

  it("keeps a log of what was asked", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create();
    await sandbox.kill();
    const asked = cloud.emulator.requests.map(({ method, path, status }) => `${method} ${path} ${status}`);
    expect(asked).toEqual(["POST /v2/sandboxes 201", `DELETE /sandboxes/${sandbox.sandboxId} 204`]);
  });
});
