import {
  DaytonaConnectionError,
  DaytonaConnectionTimeoutError,
  DaytonaRateLimitError,
  DaytonaServiceUnavailableError,
  type Sandbox,
} from "@daytonaio/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;
beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
});
afterAll(() => cloud[Symbol.asyncDispose]());
beforeEach(() => cloud.emulator.faults.clear());

const body = { statusCode: 503, message: "not now", code: "SERVICE_UNAVAILABLE", source: "DAYTONA_API" };

describe("a fault", () => {
  it("answers by a status, for so many requests, after so many that go through", async () => {
    const { faults, requests } = cloud.emulator;
    const rule = { method: "POST", path: /\/process\/execute$/ } as const;
    faults.add({ ...rule, status: 503, body, skip: 1, times: 2 });
    const execute = () => sandbox.process.executeCommand("echo fine");
    expect((await execute()).result).toBe("fine\n");
    await expect(execute()).rejects.toThrow(DaytonaServiceUnavailableError);
    await expect(execute()).rejects.toThrow("not now");
    expect((await execute()).result).toBe("fine\n");
    expect(requests.filter(({ fault }) => fault).map(({ status }) => status)).toEqual([503, 503]);

    faults.add({ ...rule, status: 429, headers: { "retry-after": "7" }, body: { ...body, statusCode: 429 } });
    const limited = await execute().catch((error) => error);
    expect(limited).toBeInstanceOf(DaytonaRateLimitError);
    expect(limited.headers["retry-after"]).toBe("7");
  });

  it("drops a connection before the request is done, or after", async () => {
    const { faults } = cloud.emulator;
    faults.add({ path: /\/process\/execute$/, drop: "before" });
    await expect(sandbox.process.executeCommand("touch before")).rejects.toThrow(DaytonaConnectionError);
    faults.add({ path: /\/process\/execute$/, drop: "after" });
    await expect(sandbox.process.executeCommand("touch after")).rejects.toThrow(DaytonaConnectionError);
    const { result } = await sandbox.process.executeCommand("ls before after 2>/dev/null");
    expect(result).toBe("after\n");
    // What may be repeated, the SDK repeats.
    faults.add({ path: /\/work-dir$/, drop: "before", times: 2 });
    expect(await sandbox.getWorkDir()).toContain("/");
  });

  it("delays, beyond the client's patience if need be", async () => {
    cloud.emulator.faults.add({ path: /\/exec$/, delayMs: 1_500 });
    await sandbox.process.createSession("patience");
    const running = sandbox.process.executeSessionCommand("patience", { command: "true" }, 1);
    await expect(running).rejects.toThrow(DaytonaConnectionTimeoutError);
  });

  it("cuts a download short, with a break or cleanly", async () => {
    await sandbox.fs.uploadFile(Buffer.alloc(1_000_000, "x"), "long");
    const { faults } = cloud.emulator;
    faults.add({ path: /bulk-download/, drop: { afterBytes: 200_000 } });
    await expect(sandbox.fs.downloadFile("long")).rejects.toThrow();
    faults.add({ path: /bulk-download/, truncateAfterBytes: 200_000 });
    await expect(sandbox.fs.downloadFile("long")).rejects.toThrow();
    expect(await sandbox.fs.downloadFile("long")).toHaveLength(1_000_000);
  });

  it("breaks a terminal's connection in the middle, and the terminal lives", async () => {
    cloud.emulator.faults.add({ path: /create-connect/, drop: { afterBytes: 50_000 } });
    let size = 0;
    const pty = await sandbox.process.createPty({
      id: "cut",
      onData: (bytes) => {
        size += bytes.length;
      },
    });
    await pty.sendInput("head -c 1000000 /dev/zero; echo sur''vived >note; sleep 60\n");
    await sandbox.process.executeCommand("until [ -s note ]; do sleep 0.05; done");
    while (pty.isConnected()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(size).toBeLessThan(50_000);
    const again = await sandbox.process.connectPty("cut", { onData: () => undefined });
    await again.kill();
  });

  it("refuses a WebSocket by a status", async () => {
    cloud.emulator.faults.add({ path: /create-connect/, status: 502 });
    await expect(sandbox.process.createPty({ id: "refused", onData: () => undefined })).rejects.toThrow(
      DaytonaConnectionError,
    );
  });
});

describe("a sandbox that is stopped or deleted under a client's feet", () => {
  it("breaks off what runs", async () => {
    const short = await cloud.daytona.create();
    const running = short.process.executeCommand("touch begun; sleep 60");
    const broken = expect(running).rejects.toThrow(DaytonaConnectionError);
    await short.process.executeCommand("until [ -e begun ]; do sleep 0.05; done");
    await short.stop();
    await broken;
    await short.delete();
  });

  it("breaks its terminals", async () => {
    const short = await cloud.daytona.create();
    const first = await short.process.createPty({ id: "a", onData: () => undefined });
    await short.stop();
    while (first.isConnected()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(first.exitCode).toBeUndefined();
    await short.start();
    expect(await short.process.listPtySessions()).toEqual([]);
    const second = await short.process.createPty({ id: "a", onData: () => undefined });
    await short.delete(60, true);
    while (second.isConnected()) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
