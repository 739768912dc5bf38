import { local } from "@sandkit/provider-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;

beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.emulator.close());

describe("a sandbox of the emulated E2B", () => {
  it("is created, found, listed and killed", async () => {
    const { Sandbox } = cloud.client;
    const sandbox = await Sandbox.create("base", { metadata: { "a b": "c&d=é" }, timeoutMs: 60_000 });
    const info = await sandbox.getInfo();
    expect(info).toMatchObject({ sandboxId: sandbox.sandboxId, templateId: "base", state: "running" });
    expect(info.endAt.getTime() - info.startedAt.getTime()).toBe(60_000);
    const page = await Sandbox.list({ query: { metadata: { "a b": "c&d=é" } } }).nextItems();
    expect(page.map(({ sandboxId }) => sandboxId)).toEqual([sandbox.sandboxId]);
    expect(await Sandbox.list({ query: { metadata: { "a b": "other" } } }).nextItems()).toEqual([]);
    expect(await sandbox.isRunning()).toBe(true);
    expect(await sandbox.kill()).toBe(true);
    expect(await sandbox.kill()).toBe(false);
    expect(await sandbox.isRunning()).toBe(false);
  });

  it("runs commands", async () => {
    const sandbox = await cloud.client.Sandbox.create();
    const result = await sandbox.commands.run('echo "$WORD $(pwd)"; echo no >&2', { envs: { WORD: "up" } });
    expect(result).toMatchObject({ exitCode: 0, stderr: "no\n" });
    await expect(sandbox.commands.run("exit 7")).rejects.toMatchObject({ exitCode: 7, error: "exit status 7" });
    await sandbox.kill();
  });

  it("reads and writes files", async () => {
    const sandbox = await cloud.client.Sandbox.create();
    await sandbox.files.write("deep/a.txt", "text");
    expect(await sandbox.files.read("deep/a.txt")).toBe("text");
    const bytes = new Uint8Array(3_000_000).map((_, index) => index);
    await sandbox.files.write("b.bin", new Blob([bytes]).stream());
    expect(Buffer.compare(await sandbox.files.read("b.bin", { format: "bytes" }), bytes)).toBe(0);
    await sandbox.kill();
  });

  it("has terminals", async () => {
    const sandbox = await cloud.client.Sandbox.create();
    let seen = "";
    const onData = (data: Uint8Array) => {
      seen += Buffer.from(data).toString();
    };
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData, timeoutMs: 0 });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from("stty size; echo $((40+2))\n"));
    await expect.poll(() => seen).toMatch(/24 80\r\n42\r\n/);
    await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 40 });
    await terminal.disconnect();
    const again = await sandbox.pty.connect(terminal.pid, { onData, timeoutMs: 0 });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from("stty size\n"));
    await expect.poll(() => seen).toMatch(/40 100\r\n/);
    expect(await sandbox.pty.kill(terminal.pid)).toBe(true);
    await expect(again.wait()).rejects.toMatchObject({ exitCode: -1, error: "signal: killed" });
    await sandbox.kill();
  });
});

it("ends also what is being made while it closes", async () => {
  const provider = local();
  const { emulator, client } = await startCloud({ provider });
  const making = client.Sandbox.create("base", { retries: 0 }).catch(() => undefined);
  await expect.poll(() => emulator.requests.length).toBe(1);
  await emulator.close();
  const left: unknown[] = [];
  for await (const info of provider.list()) left.push(info);
  expect(left).toEqual([]);
  await making;
});
