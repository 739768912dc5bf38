import type { Sandbox } from "e2b";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;
let sandbox: Sandbox;

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.client.Sandbox.create({ timeoutMs: 600_000 });
});
afterEach(() => cloud.emulator.faults.clear());
afterAll(() => cloud.emulator.close());

const start = /process\.Process\/Start/;

describe("a fault laid on the emulated E2B", () => {
  it("answers with a status and headers, so often", async () => {
    const { faults, requests } = cloud.emulator;
    const before = requests.length;
    const headers = { "retry-after": "1" };
    faults.add({
      method: "POST",
      path: "/v2/sandboxes",
      times: 2,
      status: 429,
      headers,
      body: { code: 429, message: "slow" },
    });
    const made = await cloud.client.Sandbox.create();
    expect(requests.slice(before).map(({ status, fault }) => [status, fault])).toEqual([
      [429, true],
      [429, true],
      [201, false],
    ]);
    expect(faults.pending).toBe(0);
    await made.kill();
  });

  it.each([502, 503, 504, 500])("answers %i to one kind of request alone", async (status) => {
    const remove = cloud.emulator.faults.add({ path: start, status, times: Number.POSITIVE_INFINITY });
    await expect(sandbox.commands.run("true")).rejects.toThrow();
    await sandbox.files.write("still", "fine");
    remove();
    await sandbox.commands.run("true");
  });

  it("breaks the connection before the request has any effect", async () => {
    cloud.emulator.faults.add({ method: "POST", path: "/files", drop: "before" });
    await expect(sandbox.files.write("before", "x")).rejects.toThrow();
    expect(await sandbox.files.exists("before")).toBe(false);
  });

  it("breaks the connection after the request has had its effect", async () => {
    cloud.emulator.faults.add({ method: "POST", path: "/files", drop: "after" });
    await expect(sandbox.files.write("after", "x")).rejects.toThrow();
    expect(await sandbox.files.read("after")).toBe("x");
    const sandboxes = await cloud.client.Sandbox.list().nextItems();
    cloud.emulator.faults.add({ method: "POST", path: "/v2/sandboxes", drop: "after" });
    await expect(cloud.client.Sandbox.create({ metadata: { lost: "yes" } })).rejects.toThrow();
    const now = await cloud.client.Sandbox.list().nextItems();
    expect(now.length).toBe(sandboxes.length + 1);
    const lost = now.find(({ metadata }) => metadata.lost);
    await cloud.client.Sandbox.kill(lost?.sandboxId ?? "");
  });

  it("breaks a stream after so many bytes; the command goes on", async () => {
    cloud.emulator.faults.add({ path: start, drop: { afterBytes: 20_000 } });
    const script = "echo $$ > pid; head -c 100000 /dev/zero; sleep 0.5; echo done > finished";
    await expect(sandbox.commands.run(script)).rejects.toThrow("terminated");
    await expect.poll(() => sandbox.files.exists("finished")).toBe(true);
  });

  it("ends a stream cleanly after so many bytes", async () => {
    cloud.emulator.faults.add({ path: start, truncateAfterBytes: 200 });
    await expect(sandbox.commands.run("head -c 100000 /dev/zero")).rejects.toThrow(
      /missing EndStreamResponse|incomplete envelope/,
    );
    // The SDK takes a compressed file that is cut for a whole one: only its size can tell.
    await sandbox.files.write("whole", "0123456789".repeat(1000));
    cloud.emulator.faults.add({ method: "GET", path: "/files", truncateAfterBytes: 20 });
    expect((await sandbox.files.read("whole")).length).toBeLessThan(10_000);
  });

  it("delays, and lets the next rule join in", async () => {
    cloud.emulator.faults.add({ method: "GET", path: /^\/sandboxes\//, delayMs: 300 });
    cloud.emulator.faults.add({
      method: "GET",
      path: /^\/sandboxes\//,
      status: 500,
      body: { code: 500, message: "late" },
    });
    const order: string[] = [];
    const late = sandbox.getInfo().catch(({ message }) => order.push(message));
    await sandbox.getInfo().then(() => order.push("in time"));
    await late;
    expect(order).toEqual(["in time", "500: late"]);
  });

  it("lets the first ones through", async () => {
    cloud.emulator.faults.add({ method: "GET", path: /^\/sandboxes\//, skip: 2, status: 500 });
    await sandbox.getInfo();
    await sandbox.getInfo();
    await expect(sandbox.getInfo()).rejects.toThrow();
  });
});
