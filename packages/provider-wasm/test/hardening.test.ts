import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { readFile, readlink, realpath, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findHardening, startHardened } from "../src/hardening/hardening.js";
import type { Launch, Wall } from "../src/hardening/wall.js";
import { walls } from "../src/hardening/walls.js";
import { wasm } from "../src/index.js";
import { callerOf, childrenOf, innermost, lives } from "./processes.js";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const [bubblewrap, unshare, ulimit] = walls;
/** A machine may lack a wall; the one that checks everything must not. */
const isChecked = process.env.CI !== undefined && process.getuid?.() === 0;

function launch(command: readonly string[], dataMiB = 2048): Launch {
  return { command, artifacts: { directory: here, pyodide: here, quickjs: here }, readable: [], dataMiB };
}

async function behind(wall: Wall | undefined, ...args: string[]): Promise<string> {
  const [program = "", ...rest] = wall?.command(launch([process.execPath, `${here}behind-wall.mjs`, ...args])) ?? [];
  const { stdout } = await run(program, rest, { env: {}, cwd: "/" });
  return stdout;
}

const folder = mkdtempSync(join(tmpdir(), "sandkit-walls-"));
const server = createServer((socket) => socket.destroy());
let port = 0;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as { port: number }).port;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function works(wall: Wall | undefined): Promise<boolean> {
  try {
    await behind(wall, `${port}`, `${process.pid}`);
    return true;
  } catch {
    return false;
  }
}

const own = {
  interfaces: [],
  connection: expect.stringMatching(/^E(?:CONNREFUSED|NETUNREACH)$/),
  signal: "ESRCH",
  capabilities: "0000000000000000",
  bounding: "0000000000000000",
  noNewPrivileges: "1",
  limits: { "core file size": "0", "file size": "0", "data size": `${2048 * 2 ** 20}` },
};

describe.runIf(process.platform === "linux")("behind", () => {
  it("bubblewrap there is no network, no other process, no file to read or write", async ({ skip }) => {
    if (!isChecked && !(await works(bubblewrap))) skip("bubblewrap does not work on this machine");
    const facts = JSON.parse(
      await behind(bubblewrap, `${port}`, `${process.pid}`, "/tmp/x", "/x", "/dev/shm/x", "/dev/x"),
    );
    expect(facts).toMatchObject({ ...own, passwd: "ENOENT" });
    // There is a /tmp when Node itself lies below it.
    expect(facts.written).toEqual([expect.stringMatching(/^(?:ENOENT|EROFS)$/), "EROFS", "EROFS", "EROFS"]);
    expect(facts.processes).toBeLessThanOrEqual(2);
  });

  it("unshare there is no network and no other process", async ({ skip }) => {
    if (!isChecked && !(await works(unshare))) skip("unshare does not work on this machine");
    const facts = JSON.parse(await behind(unshare, `${port}`, `${process.pid}`));
    expect(facts).toMatchObject(own);
    expect(facts.processes).toBe(1);
  });

  it("ulimit no file grows, and nothing is dumped", async () => {
    const facts = JSON.parse(await behind(ulimit, `${port}`, `${process.pid}`, join(folder, "written")));
    expect(facts.limits).toEqual(own.limits);
    expect(facts.written).toEqual(["EFBIG"]);
  });

  it("each of them memory has an end", async () => {
    for (const wall of walls) {
      if (!isChecked && !(await works(wall))) continue;
      // Node itself may be what finds no more.
      const got = await behind(wall, "fill").then(Number, () => 0);
      expect(got).toBeLessThan(2048);
    }
  });
});

describe.runIf(process.platform === "linux")("the provider", () => {
  it("starts its processes behind the strongest wall, and check says which", async ({ skip }) => {
    if (!isChecked && !(await works(bubblewrap))) skip("bubblewrap does not work on this machine");
    const provider = wasm({ hardening: "required", codeCache: false });
    expect(await provider.check()).toMatchObject({ ok: true, detail: expect.stringContaining("behind bubblewrap") });
    const before = new Set(childrenOf());
    const sandbox = await createSandbox(provider, {});
    const [outer = ""] = childrenOf().filter((pid) => !before.has(pid));
    for (const kind of ["net", "pid", "mnt", "ipc", "uts", "user"]) {
      const [inside, outside] = await Promise.all([innermost(outer), process.pid].map((pid) => namespace(pid, kind)));
      expect(inside, kind).not.toBe(outside);
    }
    expect((await sandbox.runCode("6 * 7")).value).toBe(42);
    await sandbox.destroy();
  });

  it.for(["busy", "idle"])(
    "ends them with the caller behind unshare too: %s ones",
    { timeout: 60_000 },
    async (state, { skip }) => {
      if (!isChecked && !(await works(bubblewrap)))
        skip("without bubblewrap there is no place to be made that lacks it");
      if (!isChecked && !(await works(unshare))) skip("unshare does not work on this machine");
      const hidden = (await run("sh", ["-c", "command -v bwrap"])).stdout.trim();
      const place = ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", hidden, "--"];
      const caller = spawn(hidden, [...place, process.execPath, `${here}owner.mjs`, "auto", state], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const outer = await new Promise<string>((resolve) =>
        caller.stdout.once("data", (bytes) => resolve(`${bytes}`.trim())),
      );
      const pid = innermost(outer);
      expect(await readlink(`/proc/${pid}/exe`)).toBe(await realpath(process.execPath));
      expect(await readFile(`/proc/${outer}/cmdline`, "utf8")).toContain("unshare");
      process.kill(Number(callerOf(outer)), "SIGKILL");
      await vi.waitFor(() => expect([outer, pid].filter(lives)).toEqual([]), 15_000);
    },
  );

  it("with portable starts them as they are, and says so", async () => {
    const provider = wasm({ hardening: "portable", codeCache: false });
    expect((await provider.check()).detail).toContain("behind nothing of the operating system");
    const before = new Set(childrenOf());
    const sandbox = await createSandbox(provider, {});
    const [pid = ""] = childrenOf().filter((child) => !before.has(child));
    expect(await namespace(pid, "net")).toBe(await namespace(process.pid, "net"));
    await sandbox.destroy();
  });

  it("where none works: required fails and names the fix, auto falls back to limits and says why", async ({ skip }) => {
    if (!isChecked && !(await works(bubblewrap))) skip("without bubblewrap there is no such place to be made");
    // Inside, no further namespace can be made.
    const outside = ["--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--"];
    const { stdout } = await run("bwrap", [...outside, process.execPath, `${here}without-walls.mjs`]);
    const { required, checked, auto, value } = JSON.parse(stdout);
    expect(required).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/hardening.*bubblewrap: .*apt-get/),
    });
    expect(checked).toMatchObject({ ok: false, fix: [expect.stringContaining("apt-get"), expect.any(String)] });
    expect(auto).toMatchObject({ ok: true, detail: expect.stringMatching(/behind ulimit: .*\(not bubblewrap: /) });
    expect(value).toBe(2);
  });

  it("does not try a weaker wall because a child fails by itself", async () => {
    const { wall } = await findHardening("auto", launch([]));
    const starts: (readonly string[])[] = [];
    const start = startHardened("auto", launch(["program"]), (command) => {
      starts.push(command);
      return Promise.reject(new Error("the child's own"));
    });
    await expect(start).rejects.toThrow("the child's own");
    expect(starts).toEqual([wall?.command(launch(["program"]))]);
    expect((await findHardening("auto", launch([]))).wall).toBe(wall);
  });

  it("tries a wall again that did not work a while ago", async () => {
    const { wall } = await findHardening("auto", launch([]));
    // Without any memory no program starts behind any of them.
    const starved = await findHardening("auto", launch([], 0));
    expect([starved.wall, [...starved.refused.keys()]]).toEqual([undefined, walls.map(({ name }) => name)]);
    expect((await findHardening("auto", launch([]))).wall).toBe(undefined);
    vi.useFakeTimers({ toFake: ["performance"], now: 0 });
    try {
      vi.advanceTimersByTime(performance.now() + 120_000);
      expect((await findHardening("auto", launch([]))).wall).toBe(wall);
    } finally {
      vi.useRealTimers();
    }
  });
});

function namespace(pid: number | string, kind: string): Promise<string> {
  return readlink(`/proc/${pid}/ns/${kind}`);
}
