import { createHash, randomBytes } from "node:crypto";
import type { PtyHandle, Sandbox } from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;
let count = 0;

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
});
afterAll(() => cloud[Symbol.asyncDispose]());

/** What a terminal has shown so far, and a way to wait for more of it. */
class Screen {
  readonly chunks: Buffer[] = [];
  size = 0;
  #changed: () => void = () => undefined;

  readonly onData = (bytes: Uint8Array): void => {
    this.chunks.push(Buffer.from(bytes));
    this.size += bytes.length;
    this.#changed();
  };

  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(Buffer.concat(this.chunks).toString("latin1"));
      if (match) return match;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}

async function open(options: { cols?: number; rows?: number; cwd?: string; envs?: Record<string, string> } = {}) {
  const screen = new Screen();
  const id = `pty-${++count}`;
  const pty: PtyHandle = await sandbox.process.createPty({ id, onData: screen.onData, ...options });
  return { id, pty, screen };
}

describe("a terminal", () => {
  it("runs a shell in a directory with an environment, of the size that was asked for", async () => {
    await sandbox.fs.createFolder("here", "755");
    const { pty, screen } = await open({ cols: 123, rows: 45, cwd: "here", envs: { WORD: "a b" } });
    await pty.sendInput('stty size; echo "[$WORD]" "$(basename "$PWD")" $TERM\n');
    await screen.shows(/45 123\r\n/);
    await screen.shows(/\[a b\] here xterm-256color\r\n/);
    await pty.resize(50, 20);
    await pty.sendInput("stty size\n");
    await screen.shows(/20 50\r\n/);
    await pty.sendInput("exit 7\n");
    expect(await pty.wait()).toEqual({ exitCode: 7, error: undefined });
  });

  it("is connected to again while it lives, and goes on without anybody", async () => {
    const { id, pty, screen } = await open();
    await pty.sendInput("PS1=; stty -echo; cd /; echo re''ady\n");
    await screen.shows(/ready/);
    await pty.disconnect();
    const second = new Screen();
    const again = await sandbox.process.connectPty(id, { onData: second.onData });
    await again.sendInput("pwd\n");
    await second.shows(/^\/\r\n/m);
    expect((await sandbox.process.getPtySessionInfo(id)).active).toBe(true);
    await again.kill();
    expect((await again.wait()).exitCode).toBe(137);
    await expect(sandbox.process.connectPty(id, { onData: second.onData })).rejects.toThrow(/not found/);
  });

  it("refuses a name that is taken", async () => {
    const { id, pty } = await open();
    await expect(sandbox.process.createPty({ id, onData: () => undefined })).rejects.toThrow(/already exists/);
    await pty.kill();
  });

  it("is not opened in a directory that is missing, and leaves the name free", async () => {
    const options = { id: "nowhere", cwd: "no/where", onData: () => undefined };
    await expect(sandbox.process.createPty(options)).rejects.toThrow(/no\/where/);
    await expect(sandbox.process.createPty(options)).rejects.toThrow(/no\/where/);
  });

  it("leaves alive, when it is killed, what has left its group", async () => {
    const { pty } = await open();
    await pty.sendInput("setsid sh -c 'echo $$ >daemon; exec sleep 60 >/dev/null 2>&1 </dev/null' &\n");
    await sandbox.process.executeCommand("until [ -s daemon ]; do sleep 0.05; done");
    await pty.kill();
    await pty.wait();
    const check = await sandbox.process.executeCommand('kill -0 "$(cat daemon)" && kill "$(cat daemon)" && echo alive');
    expect(check.result).toBe("alive\n");
  });

  it("carries 30 MB each way, byte for byte, in raw mode", { timeout: 180_000 }, async () => {
    const data = randomBytes(30 * 1024 * 1024);
    const { pty, screen } = await open();
    await pty.sendInput(`stty raw -echo; echo RE''ADY; head -c ${data.length} | tee in.bin; exit\n`);
    await screen.shows(/READY\n/);
    const before = screen.size;
    for (let at = 0; at < data.length; at += 65_536) await pty.sendInput(data.subarray(at, at + 65_536));
    await pty.wait();
    const shown = Buffer.concat(screen.chunks).subarray(before, before + data.length);
    expect(hash(shown)).toBe(hash(data));
    expect(hash(await sandbox.fs.downloadFile("in.bin"))).toBe(hash(data));
  });
});

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
