import { describe, expect, it, vi } from "vitest";
import { SandboxError } from "../src/errors.js";
import { Process } from "../src/process.js";
import type { ProcessExit, ProviderProcess } from "../src/provider.js";

/** A provider's process under the test's control, at the border of the contract. */
function providerProcess() {
  let exit: (exit: ProcessExit) => void = () => undefined;
  let bury: () => void = () => undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    exit = resolve;
  });
  const gone = new Promise<void>((resolve) => {
    bury = resolve;
  });
  const signals: string[] = [];
  const empty = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  const process: ProviderProcess = {
    id: "1",
    pid: 1,
    stdout: empty(),
    stderr: empty(),
    write: async () => undefined,
    closeStdin: async () => undefined,
    kill: async (signal) => void signals.push(signal),
    exited,
    gone,
  };
  return { process, exit, bury, signals };
}

const owner = () => ({
  startedMs: performance.now(),
  provider: "test",
  abandon: vi.fn(async (why: string) => {
    throw new SandboxError("SANDBOX_LOST", why);
  }),
});

describe("Process", () => {
  it("gives the sandbox up when death is not confirmed", { timeout: 15_000 }, async () => {
    const { process, exit, signals } = providerProcess();
    const lost = owner();
    const running = new Process(process, ["x"], { timeoutMs: 10, killGraceMs: 10 }, lost);
    // The leader is dead but something of its tree is not.
    setTimeout(() => exit({ exitCode: null, signal: "SIGKILL" }), 50);
    await expect(running.wait()).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect(signals).toEqual(["SIGTERM", "SIGKILL"]);
    expect(lost.abandon).toHaveBeenCalledOnce();
  });

  it("settles a timeout only when the whole tree is gone", async () => {
    const { process, exit, bury } = providerProcess();
    const running = new Process(process, ["x"], { timeoutMs: 10 }, owner());
    let settled = false;
    const result = running.wait().finally(() => {
      settled = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    exit({ exitCode: null, signal: "SIGTERM" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(settled).toBe(false);
    bury();
    expect(await result).toMatchObject({ reason: "timeout", signal: "SIGTERM" });
  });

  it("leaves background children alone after a normal end", async () => {
    const { process, exit, signals } = providerProcess();
    const running = new Process(process, ["x"], { timeoutMs: 10_000 }, owner());
    exit({ exitCode: 0 });
    expect(await running.wait()).toMatchObject({ reason: "exited", exitCode: 0 });
    expect(signals).toEqual([]);
  });

  it("takes the end that came first as the reason", async () => {
    const { process, exit, bury } = providerProcess();
    const running = new Process(process, ["x"], { timeoutMs: 20, killGraceMs: 1000 }, owner());
    await vi.waitFor(() => expect(running.info.running).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 60));
    exit({ exitCode: 0 });
    bury();
    expect(await running.wait()).toMatchObject({ reason: "timeout", exitCode: null, ok: false });
  });

  it("rejects with what the listener threw, after the tree is gone", async () => {
    const { process, exit, bury, signals } = providerProcess();
    const noisy = {
      ...process,
      stdout: new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([65])) }),
    };
    const onOutput = () => {
      throw new Error("listener");
    };
    const running = new Process(noisy, ["x"], { onOutput }, owner());
    await vi.waitFor(() => expect(signals).toContain("SIGKILL"));
    exit({ exitCode: null, signal: "SIGKILL" });
    bury();
    await expect(running.wait()).rejects.toThrow("listener");
  });

  it("names a lost backend as an error, never as an exit code", async () => {
    const { process } = providerProcess();
    const exited = Promise.reject(new Error("channel closed"));
    const running = new Process({ ...process, exited }, ["x"], {}, owner());
    await expect(running.wait()).rejects.toThrow("channel closed");
  });

  it("settles an ended program though its listener never does", async () => {
    const { process, exit, bury, signals } = providerProcess();
    const stdout = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([65])) });
    const onOutput = () => new Promise<void>(() => undefined);
    const running = new Process({ ...process, stdout }, ["x"], { timeoutMs: 20, onOutput }, owner());
    await vi.waitFor(() => expect(signals).toContain("SIGTERM"));
    exit({ exitCode: null, signal: "SIGTERM" });
    bury();
    expect(await running.wait()).toMatchObject({ reason: "timeout", stdout: { text: "A" } });
  });

  it("says that a process no longer runs as soon as its kill has resolved", async () => {
    const { process, exit, bury } = providerProcess();
    const running = new Process(process, ["x"], {}, owner());
    const killed = running.kill();
    exit({ exitCode: null, signal: "SIGTERM" });
    bury();
    await killed;
    expect(running.info.running).toBe(false);
  });

  it("gives the sandbox up when what became of the tree cannot be known", async () => {
    const { process, exit } = providerProcess();
    const lost = owner();
    const gone = Promise.reject(new Error("channel closed"));
    const running = new Process({ ...process, gone }, ["x"], { killGraceMs: 10 }, lost);
    exit({ exitCode: 0 });
    await expect(running.kill()).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect(lost.abandon).toHaveBeenCalledOnce();
  });

  it("goes on to SIGKILL when SIGTERM fails or hangs", async () => {
    for (const answer of [() => Promise.reject(new Error("no route")), () => new Promise<void>(() => undefined)]) {
      const { process, exit, bury } = providerProcess();
      const kill = async (signal: string) => {
        if (signal === "SIGTERM") return answer();
        exit({ exitCode: null, signal });
        bury();
      };
      const running = new Process({ ...process, kill }, ["x"], { killGraceMs: 10 }, owner());
      await running.kill();
      expect(await running.wait()).toMatchObject({ reason: "signaled", signal: "SIGKILL" });
    }
  });
});
