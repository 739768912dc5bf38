import { randomUUID } from "node:crypto";
import type { Sandbox } from "@daytonaio/sdk";
import { describe, expect, it } from "vitest";
import WebSocket from "ws";
import { type Cloud, startCloud } from "./cloud.js";

/** Runs a command of a session to its end and gives what its log stream sends, frame by frame. */
async function framesOf({ emulator }: Cloud, sandbox: Sandbox, command: string) {
  const id = randomUUID();
  await sandbox.process.createSession(id);
  const { cmdId } = await sandbox.process.executeSessionCommand(id, { command, runAsync: true });
  const base = `${sandbox.toolboxProxyUrl}/${sandbox.id}`.replace("http", "ws");
  const socket = new WebSocket(`${base}/process/session/${id}/command/${cmdId}/logs?follow=true`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  const frames: Buffer[] = [];
  let lastAt = 0;
  socket.on("message", (data: Buffer) => {
    frames.push(data);
    lastAt = performance.now();
  });
  await new Promise((resolve) => socket.on("close", resolve));
  return { frames, log: Buffer.concat(frames), closeDelayMs: performance.now() - lastAt };
}

/** What the SDK makes of the log of a command. */
async function demuxed(sandbox: Sandbox, command: string) {
  const id = randomUUID();
  await sandbox.process.createSession(id);
  const { cmdId } = await sandbox.process.executeSessionCommand(id, { command, runAsync: true });
  const output = { stdout: "", stderr: "" };
  await sandbox.process.getSessionCommandLogs(
    id,
    cmdId,
    (text) => {
      output.stdout += text;
    },
    (text) => {
      output.stderr += text;
    },
  );
  return output;
}

describe("the log of a session's command, as the service sends it", () => {
  it("marks each line, adds a last newline, drops NULs, comes in frames of 1 KB, closes 1 s after the last byte", async () => {
    await using cloud = await startCloud();
    const sandbox = await cloud.daytona.create();
    const { log, closeDelayMs } = await framesOf(cloud, sandbox, "printf 'a\\0b\\nend'; sleep 0.5; echo no >&2");
    expect(log.toString("latin1")).toBe("\x01\x01\x01ab\n\x02\x02\x02no\n\x01\x01\x01end\n");
    expect(closeDelayMs).toBeGreaterThan(900);
    const { frames } = await framesOf(cloud, sandbox, "seq 10000");
    expect(Math.max(...frames.map((frame) => frame.length))).toBe(1_024);
    const startsInMark = frames.filter((frame) => frame[0] === 1 && frame[2] !== 1);
    expect(startsInMark.length).toBeGreaterThan(0);
  });

  it("is corrupted by the SDK when it is long", { timeout: 60_000 }, async () => {
    await using cloud = await startCloud();
    const sandbox = await cloud.daytona.create();
    const { stdout } = await demuxed(sandbox, 'i=0; while [ $i -lt 10000 ]; do printf "%071d\\n" $i; i=$((i+1)); done');
    expect(stdout.split("\n")).toHaveLength(10_001);
    const strays = stdout.split("").filter((character) => character === "\x01").length;
    expect(strays).toBeGreaterThan(0);
  });

  it("is not, in large frames", { timeout: 60_000 }, async () => {
    await using cloud = await startCloud({ quirks: { logFrameBytes: 64 * 1024, logCloseDelayMs: 0 } });
    const sandbox = await cloud.daytona.create();
    const { stdout } = await demuxed(sandbox, "seq 2000");
    expect(stdout.split("\n")).toHaveLength(2_001);
    expect(stdout).not.toContain("\x01");
  });

  it("lets a program take the other stream, by printing its mark", async () => {
    await using cloud = await startCloud();
    const sandbox = await cloud.daytona.create();
    const { stdout, stderr } = await demuxed(sandbox, "printf 'mine\\n\\002\\002\\002forged\\n'");
    expect({ stdout, stderr }).toEqual({ stdout: "mine\n", stderr: "forged\n" });
  });

  it("is exact where that is switched on", async () => {
    await using cloud = await startCloud({ quirks: { addFinalNewline: false, dropNul: false, logCloseDelayMs: 0 } });
    const sandbox = await cloud.daytona.create();
    const { log } = await framesOf(cloud, sandbox, "printf 'a\\0b'");
    expect(log.toString("latin1")).toBe("\x01\x01\x01a\0b");
  });
});

describe("a terminal that drops slow clients", () => {
  it("cuts off one that does not take what is written, and goes on", async () => {
    await using cloud = await startCloud({ quirks: { ptyBacklogBytes: 64 * 1024 } });
    const sandbox = await cloud.daytona.create();
    const id = "slow";
    const base = `${sandbox.toolboxProxyUrl}/${sandbox.id}`.replace("http", "ws");
    const socket = new WebSocket(`${base}/process/pty/create-connect?id=${id}`, {
      headers: { authorization: `Bearer ${cloud.emulator.apiKey}` },
    });
    await new Promise((resolve) => socket.once("message", resolve));
    socket.send("head -c 20000000 /dev/zero; sleep 60\n");
    socket.pause();
    await sandbox.process.executeCommand("sleep 2");
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    socket.resume();
    expect(await closed).toBe(1006);
    expect((await sandbox.process.getPtySessionInfo(id)).active).toBe(true);
  });
});
