import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { containers, describeOnEngine } from "../engine.js";
import { type Cloud, startCloud } from "./cloud.js";

describeOnEngine("an emulated Daytona over containers", () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await startCloud({ provider: containers, templates: { "python:3.12": {} } });
  });
  afterAll(() => cloud[Symbol.asyncDispose]());

  it("runs commands, sessions, terminals and files in containers", async () => {
    const sandbox = await cloud.daytona.create({ envVars: { OF_ALL: "yes" } });
    const { result } = await sandbox.process.executeCommand("echo $OF_ALL; cat /proc/1/comm; exit 9");
    expect(result).toMatch(/^yes\n/);
    const data = randomBytes(3_000_000);
    await sandbox.fs.uploadFile(data, "deep/b.bin");
    expect(Buffer.compare(await sandbox.fs.downloadFile("deep/b.bin"), data)).toBe(0);
    expect((await sandbox.fs.getFileDetails("deep")).isDir).toBe(true);
    await sandbox.process.createSession("s");
    await sandbox.process.executeSessionCommand("s", { command: "cd deep" });
    const second = await sandbox.process.executeSessionCommand("s", { command: "ls; echo e >&2" });
    expect(second).toMatchObject({ exitCode: 0, stdout: "b.bin\n", stderr: "e\n" });
    let seen = "";
    const onData = (bytes: Uint8Array) => {
      seen += Buffer.from(bytes).toString();
    };
    const pty = await sandbox.process.createPty({ id: "p", cols: 80, rows: 24, onData });
    await pty.sendInput("stty size; echo $((40+2)); exit 4\n");
    expect((await pty.wait()).exitCode).toBe(4);
    expect(seen).toMatch(/24 80\r\n42\r\n/);
    await sandbox.delete(60, true);
  });

  it("stops and starts one: the files stay, the programs do not", async () => {
    const sandbox = await cloud.daytona.create();
    await sandbox.process.executeCommand(
      "setsid sh -c 'while :; do date +%s%N >tick; sleep 0.05; done' >/dev/null 2>&1 &",
    );
    await sandbox.process.executeCommand("until [ -s tick ]; do sleep 0.05; done");
    await sandbox.stop();
    await sandbox.start();
    const check = 'before=$(cat tick); sleep 0.5; [ "$before" = "$(cat tick)" ] && echo still';
    expect((await sandbox.process.executeCommand(check)).result).toBe("still\n");
    await sandbox.delete(60, true);
  });

  it("keeps them from the network where that is asked for, and reaches their servers", async () => {
    const sandbox = await cloud.daytona.create({ networkBlockAll: true });
    expect((await cloud.daytona.get(sandbox.id)).networkBlockAll).toBe(true);
    const ask = `python3 -c "import socket; socket.create_connection(('192.0.2.1', 80), 1)"`;
    expect((await sandbox.process.executeCommand(ask)).exitCode).toBe(1);
    await sandbox.fs.uploadFile(Buffer.from("from inside"), "index.html");
    await sandbox.process.executeCommand("setsid python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &");
    const { url, token } = await sandbox.getPreviewLink(8000);
    const fetched = async () =>
      (await fetch(`${url}/index.html`, { headers: { "x-daytona-preview-token": token } })).text();
    await expect.poll(fetched, { timeout: 10_000 }).toBe("from inside");
    await sandbox.delete(60, true);
  });

  it("gives one the resources that it asks for", async () => {
    const sandbox = await cloud.daytona.create({ image: "python:3.12", resources: { cpu: 1, memory: 1 } });
    const { result } = await sandbox.process.executeCommand(
      "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null",
    );
    expect(result.trim()).toBe(String(1024 ** 3));
    await sandbox.delete(60, true);
  });
});
