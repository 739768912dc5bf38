import { afterAll, beforeAll, expect, it } from "vitest";
import { containers, describeOnEngine } from "../engine.js";
import { type Cloud, startCloud } from "./emulator.js";

describeOnEngine("an emulated E2B over containers", () => {
  let cloud: Cloud;

  beforeAll(async () => {
    cloud = await startCloud({ provider: containers });
  });
  afterAll(() => cloud.emulator.close());

  it("runs commands, terminals and files in containers", async () => {
    const sandbox = await cloud.client.Sandbox.create({ envs: { OF_ALL: "yes" }, timeoutMs: 600_000 });
    const { stdout } = await sandbox.commands.run("echo $OF_ALL; cat /proc/1/comm; pwd", { user: "root" });
    expect(stdout).toMatch(/^yes\n.*\n\/.*\n$/);
    await expect(sandbox.commands.run("exit 9")).rejects.toMatchObject({ exitCode: 9 });
    const bytes = new Uint8Array(3_000_000).map((_, index) => index * 3);
    await sandbox.files.write("deep/b.bin", new Blob([bytes]).stream());
    expect(Buffer.compare(await sandbox.files.read("deep/b.bin", { format: "bytes" }), bytes)).toBe(0);
    expect(await sandbox.files.getInfo("deep")).toMatchObject({ type: "dir", owner: "user" });
    let seen = "";
    const onData = (data: Uint8Array) => {
      seen += Buffer.from(data).toString();
    };
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData, timeoutMs: 0 });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from("stty size; echo $((40+2)); exit 4\n"));
    await expect(terminal.wait()).rejects.toMatchObject({ exitCode: 4 });
    expect(seen).toMatch(/24 80\r\n42\r\n/);
    await sandbox.kill();
  });

  it("stops everything in a paused one, and all of it goes on", async () => {
    const sandbox = await cloud.client.Sandbox.create({ timeoutMs: 600_000 });
    const script = "i=0; while :; do i=$((i+1)); echo $i > count; sleep 0.02; done";
    await sandbox.commands.run(`setsid sh -c '${script}' >/dev/null 2>&1 &`);
    await expect.poll(() => sandbox.files.exists("count")).toBe(true);
    await sandbox.pause();
    await sandbox.connect({ timeoutMs: 600_000 });
    await sandbox.files.remove("count");
    await expect.poll(() => sandbox.files.exists("count")).toBe(true);
    await sandbox.kill();
  });

  it("keeps them from the network, and reaches their servers", async () => {
    const sandbox = await cloud.client.Sandbox.create({ allowInternetAccess: false, timeoutMs: 600_000 });
    const ask = "import socket; socket.create_connection(('192.0.2.1', 80), 1)";
    await expect(sandbox.commands.run(`python3 -c "${ask}"`)).rejects.toMatchObject({ exitCode: 1 });
    await sandbox.files.write("index.html", "from inside");
    const serve = "exec python3 -m http.server 8000 --bind 127.0.0.1";
    await sandbox.commands.run(serve, { background: true, timeoutMs: 0 });
    const headers = { "e2b-sandbox-id": sandbox.sandboxId, "e2b-sandbox-port": "8000" };
    const fetched = async () => (await fetch(`${cloud.emulator.url}/index.html`, { headers })).text();
    await expect.poll(fetched, { timeout: 10_000 }).toBe("from inside");
    await sandbox.kill();
  });

  it("copies the home folder of one into another", async () => {
    const sandbox = await cloud.client.Sandbox.create({ timeoutMs: 600_000 });
    await sandbox.commands.run("mkdir a; echo text > a/b; ln -s a/b link");
    const { snapshotId } = await sandbox.createSnapshot();
    await sandbox.kill();
    const again = await cloud.client.Sandbox.create(snapshotId);
    expect((await again.commands.run("cat link")).stdout).toBe("text\n");
    await again.kill();
  });
});
