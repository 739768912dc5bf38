import { setTimeout } from "node:timers/promises";
import type { Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;
let sandbox: Sandbox;

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.client.Sandbox.create({ timeoutMs: 600_000, envs: { OF_ALL: "yes" } });
});
afterAll(() => cloud.emulator.close());

/** A message of Connect's streams. */
function envelope(message: object, flags = 0): Buffer {
  const bytes = Buffer.from(JSON.stringify(message));
  const head = Buffer.from([flags, 0, 0, 0, 0]);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Whether a process of that number is there: all are processes of this machine. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a command of the emulated E2B", () => {
  it("has the environment of the sandbox and its own", async () => {
    const { stdout } = await sandbox.commands.run('echo "$OF_ALL $OF_ONE $USER $E2B_SANDBOX_ID"', {
      envs: { OF_ONE: "too" },
    });
    expect(stdout).toBe(`yes too user ${sandbox.sandboxId}\n`);
  });

  it("starts in a directory that is there, or is refused", async () => {
    await sandbox.files.makeDir("inside");
    const { stdout } = await sandbox.commands.run("pwd", { cwd: "inside" });
    expect(stdout).toMatch(/\/inside\n$/);
    await expect(sandbox.commands.run("pwd", { cwd: "/no/where" })).rejects.toMatchObject({
      name: "InvalidArgumentError",
      message: expect.stringContaining("cwd '/no/where' does not exist"),
    });
  });

  it("runs as user or root, and as nobody else", async () => {
    expect((await sandbox.commands.run("echo $USER", { user: "root" })).stdout).toBe("root\n");
    await expect(sandbox.commands.run("true", { user: "stranger" })).rejects.toThrow("invalid username: 'stranger'");
  });

  it("reads input until that is closed", async () => {
    const handle = await sandbox.commands.run("wc -c", { background: true, stdin: true });
    await handle.sendStdin(new Uint8Array(200_000));
    await handle.sendStdin("ten bytes.");
    await handle.closeStdin();
    expect((await handle.wait()).stdout.trim()).toBe("200010");
  });

  it("reads end of file at once without input, and takes none", async () => {
    expect((await sandbox.commands.run("cat; echo over")).stdout).toBe("over\n");
    const handle = await sandbox.commands.run("sleep 5", { background: true });
    await expect(handle.sendStdin("x")).rejects.toThrow("writing input");
    await handle.kill();
  });

  it("is listed while it runs", async () => {
    const handle = await sandbox.commands.run("sleep 30", { background: true, envs: { A: "b" } });
    const listed = (await sandbox.commands.list()).find(({ pid }) => pid === handle.pid);
    expect(listed).toEqual({ pid: handle.pid, cmd: "/bin/bash", args: ["-l", "-c", "sleep 30"], envs: { A: "b" } });
    expect(await handle.kill()).toBe(true);
    await expect(handle.wait()).rejects.toMatchObject({ exitCode: -1, error: "signal: killed" });
    expect((await sandbox.commands.list()).map(({ pid }) => pid)).not.toContain(handle.pid);
    expect(await sandbox.commands.kill(handle.pid)).toBe(false);
  });

  it("is killed alone: what it started lives on, without a group of its own", async () => {
    const script = "sleep 41 >/dev/null 2>&1 & echo $! $(ps -o pgid= -p $$) $$; sleep 42";
    const handle = await sandbox.commands.run(script, { background: true });
    await expect.poll(() => handle.stdout).toContain("\n");
    const [child = 0, group, own] = handle.stdout.trim().split(/\s+/).map(Number);
    expect(group).not.toBe(own);
    await handle.kill();
    await expect(handle.wait()).rejects.toMatchObject({ error: "signal: killed" });
    expect(isAlive(child)).toBe(true);
    await sandbox.commands.run(`kill -KILL ${child}`);
  });

  it("ends only when its pipes have ended", async () => {
    const result = await sandbox.commands.run("(sleep 0.3; echo late) & echo early");
    expect(result.stdout).toBe("early\nlate\n");
  });

  it("goes on when its client leaves, and is found again without what was missed", async () => {
    const script =
      "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; while [ ! -e end ]; do sleep 0.02; done";
    const handle = await sandbox.commands.run(`${script}; echo three`, { background: true, timeoutMs: 0 });
    await expect.poll(() => handle.stdout).toBe("one\n");
    await handle.disconnect();
    await sandbox.files.write("go", "");
    await setTimeout(300);
    const again = await sandbox.commands.connect(handle.pid, { timeoutMs: 0 });
    await sandbox.files.write("end", "");
    expect((await again.wait()).stdout).toBe("three\n");
  });

  it("tells its end to one that connects soon after, by the clock", async () => {
    const handle = await sandbox.commands.run("exit 3", { background: true });
    await handle.wait().catch(() => undefined);
    const late = await sandbox.commands.connect(handle.pid);
    await expect(late.wait()).rejects.toMatchObject({ exitCode: 3 });
    await cloud.emulator.clock.advance(31_000);
    await expect(sandbox.commands.connect(handle.pid)).rejects.toMatchObject({ name: "NotFoundError" });
  });

  it("is killed by the server at its deadline", async () => {
    const handle = await sandbox.commands.run("echo up; sleep 43", { background: true, timeoutMs: 3_000 });
    await expect(handle.wait()).rejects.toMatchObject({ name: "TimeoutError" });
    expect(handle.stdout).toBe("up\n");
    await expect.poll(() => isAlive(handle.pid)).toBe(false);
  });

  it("outlives the deadline of one that only found it again", async () => {
    const handle = await sandbox.commands.run("sleep 46", { background: true, timeoutMs: 0 });
    const again = await sandbox.commands.connect(handle.pid, { timeoutMs: 2_000 });
    await expect(again.wait()).rejects.toMatchObject({ name: "TimeoutError" });
    expect(isAlive(handle.pid)).toBe(true);
    await handle.kill();
  });

  it("takes a stream of input, which the SDK does not send", async () => {
    const handle = await sandbox.commands.run("wc -c", { background: true, stdin: true });
    const messages = [
      { start: { process: { pid: handle.pid } } },
      { data: { input: { stdin: Buffer.from("four").toString("base64") } } },
      { keepalive: {} },
      { data: { input: { stdin: Buffer.alloc(100_000).toString("base64") } } },
    ];
    const headers = {
      "content-type": "application/connect+json",
      "e2b-sandbox-id": sandbox.sandboxId,
      "x-access-token": Reflect.get(sandbox, "envdAccessToken"),
    };
    const body = Buffer.concat(messages.map((message) => envelope(message)));
    const answer = await fetch(`${cloud.emulator.url}/process.Process/StreamInput`, { method: "POST", headers, body });
    expect(await answer.text()).toBe(Buffer.concat([envelope({}), envelope({}, 2)]).toString());
    await handle.closeStdin();
    expect((await handle.wait()).stdout.trim()).toBe("100004");
  });

  it("survives the abort of its client", async () => {
    const abort = new AbortController();
    const handle = await sandbox.commands.run("sleep 44", { background: true, signal: abort.signal });
    abort.abort();
    await expect(handle.wait()).rejects.toMatchObject({ name: "TimeoutError" });
    expect(isAlive(handle.pid)).toBe(true);
    expect(await sandbox.commands.kill(handle.pid)).toBe(true);
  });

  it("is held up by a client that does not read", async () => {
    const script = "i=0; while [ $i -lt 400 ]; do head -c 32768 /dev/zero; i=$((i+1)); echo $i > count; done";
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const handle = await sandbox.commands.run(script, { background: true, onStdout: () => held });
    await setTimeout(1500);
    const count = Number(await sandbox.files.read("count"));
    expect(count).toBeLessThan(400);
    release();
    expect((await handle.wait()).stdout.length).toBe(400 * 32_768);
  });
});

describe("a terminal of the emulated E2B", () => {
  it("carries bytes exactly once it is raw", async () => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (data: Uint8Array) => {
      chunks.push(Buffer.from(data));
      size += data.length;
    };
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData, timeoutMs: 0 });
    const line = "exec sh -c 'stty raw -echo; printf RE%s ADY; exec cat'\n";
    await sandbox.pty.sendInput(terminal.pid, Buffer.from(line));
    await expect.poll(() => Buffer.concat(chunks).includes("READY")).toBe(true);
    const before = size;
    const sent = Buffer.alloc(1_000_000, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
    for (let offset = 0; offset < sent.length; offset += 50_000) {
      await sandbox.pty.sendInput(terminal.pid, sent.subarray(offset, offset + 50_000));
    }
    await expect.poll(() => size - before, { timeout: 20_000 }).toBe(sent.length);
    expect(Buffer.concat(chunks).subarray(before).equals(sent)).toBe(true);
    await sandbox.pty.kill(terminal.pid);
    await expect(terminal.wait()).rejects.toMatchObject({ error: "signal: killed" });
  });

  it("gives 30 MB in pieces of 16 KiB at most", async () => {
    let size = 0;
    let largest = 0;
    const onData = (data: Uint8Array) => {
      size += data.length;
      largest = Math.max(largest, data.length);
    };
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData, timeoutMs: 0 });
    const line = "exec sh -c 'stty raw -echo; head -c 30000000 /dev/zero; exit 5'\n";
    await sandbox.pty.sendInput(terminal.pid, Buffer.from(line));
    await expect(terminal.wait()).rejects.toMatchObject({ exitCode: 5 });
    expect(size).toBeGreaterThanOrEqual(30_000_000);
    expect(size).toBeLessThan(30_010_000);
    expect(largest).toBeLessThanOrEqual(16_384);
  }, 60_000);

  it("ends with its shell, on Ctrl+D", async () => {
    let seen = "";
    const onData = (data: Uint8Array) => {
      seen += Buffer.from(data).toString();
    };
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData, timeoutMs: 0 });
    await sandbox.pty.sendInput(terminal.pid, Buffer.from("echo $((6*7))\n"));
    await expect.poll(() => seen).toMatch(/42\r\n.*[$#] /s);
    await sandbox.pty.sendInput(terminal.pid, Buffer.from([4]));
    await terminal.wait();
    await expect(sandbox.pty.sendInput(terminal.pid, Buffer.from("x"))).rejects.toMatchObject({
      name: "NotFoundError",
    });
  });
});
