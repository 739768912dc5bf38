import { readdir, readFile, stat } from "node:fs/promises";
import { createSandbox, type ProviderSession, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { local } from "../src/index.js";

/** Host pids whose command line holds a text. */
async function running(marker: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => lines[index]?.includes(marker)).map(Number);
}

async function within(ms: number, holds: () => Promise<boolean>): Promise<boolean> {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

describe("a process of the host", () => {
  let sandbox: Sandbox;
  let session: ProviderSession;

  beforeAll(async () => {
    const provider = local();
    session = await provider.create({});
    sandbox = await createSandbox(provider);
  });
  afterAll(async () => {
    await session.destroy();
    await sandbox.destroy();
  });

  it("sees nothing of the host's environment", async () => {
    const { stdout } = await sandbox.exec(["env"], { env: { ONLY: "a\nb" } });
    const names = stdout.text.match(/^[A-Za-z_]+(?==)/gm);
    expect(names?.sort()).toEqual(["HOME", "LANG", "ONLY", "PATH", "TMPDIR"]);
  });

  it("has the pid that it sees itself", async () => {
    const process = await sandbox.spawn("echo $$; sleep 0.05");
    expect((await process.wait()).stdout.text).toBe(`${process.pid}\n`);
  });

  it("ends with 127 when missing and 126 when not executable", async () => {
    await sandbox.files.write("plain", "text");
    await sandbox.files.write("headless", "#!/nonexistent/shell\n", { permissions: 0o755 });
    expect(await sandbox.exec(["missing"])).toMatchObject({
      exitCode: 127,
      stderr: { text: expect.stringContaining("missing") },
    });
    expect(await sandbox.exec(["./plain"])).toMatchObject({ exitCode: 126 });
    expect(await sandbox.exec(["./headless"])).toMatchObject({ exitCode: 126 });
    expect(await sandbox.exec(["/etc"])).toMatchObject({ exitCode: 126 });
  });

  it("refuses an argument that no program can take", async () => {
    await expect(sandbox.exec(["echo", "\ud800"])).rejects.toMatchObject({ code: "INVALID" });
  });

  it("is held up while its output is not pulled", async () => {
    const process = await session.spawn(["sh", "-c", "head -c 8000000 /dev/zero; : > passed"], { stdin: false });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(stat(`${session.workdir}/passed`)).rejects.toMatchObject({ code: "ENOENT" });
    let bytes = 0;
    for await (const chunk of process.stdout) bytes += chunk.byteLength;
    await process.gone;
    expect(bytes).toBe(8_000_000);
  });

  it("is gone before its output is read", async () => {
    const process = await session.spawn(["sh", "-c", "head -c 100000 /dev/zero"], { stdin: false });
    await process.gone;
    let bytes = 0;
    for await (const chunk of process.stdout) bytes += chunk.byteLength;
    expect(bytes).toBe(100_000);
  });

  it("keeps a writer waiting while it does not read, and lets go at its end", async () => {
    const process = await session.spawn(["sleep", "0.5"], { stdin: true });
    let accepted = false;
    const writing = process.write(new Uint8Array(4_000_000)).then(() => {
      accepted = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(accepted).toBe(false);
    await process.exited;
    await writing;
    await process.write(new Uint8Array(1));
    await process.closeStdin();
  });

  it("goes on when nobody wants its output any more", async () => {
    const process = await session.spawn(["sh", "-c", "head -c 8000000 /dev/zero; exit 3"], { stdin: false });
    await process.stdout.cancel();
    expect(await process.exited).toMatchObject({ exitCode: 3 });
    await process.gone;
  });

  it("reports the loss of its supervisor as a lost sandbox, never as an exit code", async () => {
    const process = await session.spawn(["sh", "-c", "kill -9 $PPID; sleep 30.5"], { stdin: false });
    await expect(process.exited).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    await expect(process.gone).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect(await within(2000, async () => !(await running("kill -9 $PPID")).length)).toBe(true);
    for (const pid of await running("sleep\u000030.5")) globalThis.process.kill(pid, "SIGKILL");
  });

  it("can be killed after its supervisor has ended and before that is known here", async () => {
    const process = await session.spawn(["sh", "-c", "sleep 0.05 & exit 3"], { stdin: false });
    expect(await process.exited).toMatchObject({ exitCode: 3 });
    // Nothing is heard while this thread stands still, which is when the child and then the supervisor end.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await process.kill("SIGKILL");
    await process.gone;
  });

  it("is killed with everything it has started, however often that forks", async () => {
    const marker = `survivor-${Date.now()}`;
    const bomb = `f() { sh -c 'trap "" TERM; : ${marker}; sleep 0.05; sleep 60' & sleep 0.02; f; }; trap "" TERM; f`;
    const process = await session.spawn(["setsid", "env", "-i", "/bin/bash", "-c", bomb], { stdin: false });
    expect(await within(5000, async () => (await running(marker)).length > 4)).toBe(true);
    await process.kill("SIGKILL");
    await process.gone;
    expect(await running(marker)).toEqual([]);
  });
});
