import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type RemoteSession, remoteSession } from "../../src/remote/remote-session.js";
import { Sandbox } from "../../src/sandbox.js";
import type { Faults, LocalTerminalOptions } from "./local-terminal.js";
import { LocalBox } from "./remote-box.js";

const sessions: RemoteSession[] = [];
/** A PATH with everything but interpreters. */
let path = "";

beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), "sandkit-plain-"));
  for (const name of await readdir("/usr/bin")) {
    if (!/^(?:python|node|perl)/.test(name)) await symlink(`/usr/bin/${name}`, join(path, name));
  }
});
afterAll(() => rm(path, { recursive: true }));
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.destroy()));
});

async function open(options: LocalTerminalOptions = {}, more: Partial<Parameters<typeof remoteSession>[1]> = {}) {
  const box = new LocalBox({ env: { PATH: path }, ...options });
  const session = await remoteSession(box, { origin: "created", ...more });
  sessions.push(session);
  return { box, session, sandbox: new Sandbox(session) };
}

describe("a box without Python", () => {
  it("runs commands, keeps files, and declares what it cannot", async () => {
    const { sandbox, box } = await open();
    const result = await sandbox.exec("echo out; echo err >&2; exit 3");
    expect(result).toMatchObject({ exitCode: 3, stdout: { text: "out\n" }, stderr: { text: "err\n" } });
    expect(
      await sandbox.exec('cat; echo $ODD "$A"', { stdin: "given\n", env: { ODD: "it's", A: "b\nc" } }),
    ).toMatchObject({
      stdout: { text: "given\nit's b\nc\n" },
    });
    await sandbox.files.write("a/b.txt", "hello");
    expect(await sandbox.files.readText("a/b.txt")).toBe("hello");
    expect(sandbox.capabilities.features).toMatchObject({ "exec.killTree": "emulated", "kernel.bash": false });
    // They are used again.
    expect(box.terminals.length).toBeLessThanOrEqual(4);
  });

  it("loses and doubles nothing though connections drop, cut and stall, in both directions", async () => {
    let turn = 0;
    const faults: Faults = {};
    const { sandbox, box } = await open({ faults });
    Object.assign(faults, {
      pieceBytes: 1_021,
      dropAfterBytes: () => 210_000 + 7_919 * (turn++ % 7),
      failSend: () => (["after", "before", undefined, undefined, undefined, undefined] as const)[turn++ % 6],
    });
    const content = randomBytes(600_000);
    const command = "tee /dev/stderr";
    const { stdout, stderr } = await sandbox.exec(command, { stdin: content, maxOutputBytes: 10_000_000 });
    for (const { bytes } of [stdout, stderr]) expect(digest(bytes)).toBe(digest(content));
    expect(box.terminals.some(({ connects }) => connects > 3)).toBe(true);
  }, 60_000);

  it("runs one program after another though what ends one is lost", async () => {
    const faults: Faults = {};
    const { sandbox, box } = await open({ faults });
    let turn = 0;
    Object.assign(faults, { delayMs: 3, failSend: () => (turn++ % 7 === 6 ? "before" : undefined) });
    for (let number = 0; number < 12; number += 1) {
      expect((await sandbox.exec(`echo ${number}`)).stdout.text).toBe(`${number}\n`);
    }
    expect(box.terminals.some(({ connects }) => connects > 1)).toBe(true);
  }, 30_000);

  it("knows that somebody else has paused the box, and goes on when it is resumed", async () => {
    const faults: Faults = {};
    const box = Object.assign(new LocalBox({ env: { PATH: path }, faults }), {
      pause: {
        keeps: "processes" as const,
        pause: async () => undefined,
        resume: async () => {
          box.state = "running";
          faults.unreachable = false;
        },
      },
    });
    const session = await remoteSession(box, { origin: "created" });
    sessions.push(session);
    const sandbox = new Sandbox(session);
    const running = sandbox.exec("sleep 1; echo done");
    await sleep(500);
    box.state = "paused";
    faults.unreachable = true;
    for (const terminal of box.terminals) terminal.drop();
    await expect.poll(() => sandbox.exec("true").catch(({ code }) => code), { timeout: 5_000 }).toBe("UNAVAILABLE");
    await session.resume?.();
    expect((await running).stdout.text).toBe("done\n");
  });

  it("is set up once its maker says so, and is had by others all the same when a program has taken that mark away", async () => {
    const { box, session, sandbox } = await open({}, { detached: true, settingUp: true });
    const join = async () => {
      const joined = await remoteSession(box, { origin: "attached", startAgent: false, detached: true });
      sessions.push(joined);
      return new Sandbox(joined);
    };
    const early = { code: "UNAVAILABLE", message: expect.stringContaining("still being set up") };
    await expect(join()).rejects.toMatchObject(early);
    await session.ready();
    expect((await (await join()).exec("echo joined")).stdout.text).toBe("joined\n");
    await sandbox.exec(`rm -r ${markOf(session)}`);
    await expect(join()).rejects.toMatchObject(early);
    // No set-up takes as long.
    box.createdAt = new Date(Date.now() - 6 * 60_000);
    expect((await (await join()).exec("echo joined")).stdout.text).toBe("joined\n");
  });

  it("has a listing of more names than fit in memory refused, and goes on", { timeout: 120_000 }, async () => {
    const { sandbox } = await open();
    const names = "mkdir -p $d && cd $d && seq 1 $n | xargs touch";
    const deep = Array.from({ length: 12 }, () => "d".repeat(250)).join("/");
    await sandbox.exec(names, { env: { d: deep, n: "24000" } });
    await expect(sandbox.files.list(".", { recursive: true })).rejects.toMatchObject({
      code: "TOO_LARGE",
      operation: "files.list",
      message: expect.stringContaining("list a smaller part"),
    });
    expect(await sandbox.files.list(".", { recursive: true, maxDepth: 12 })).toHaveLength(12);
    expect((await sandbox.exec("echo still here")).stdout.text).toBe("still here\n");
  });

  it("holds a program up that nobody reads", async () => {
    const { session, sandbox } = await open();
    const script = "i=0; while [ $i -lt 40 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >count; done";
    const process = await session.spawn(["sh", "-c", script], { stdin: false });
    await sleep(1_500);
    expect(Number(await sandbox.files.readText("count"))).toBeLessThan(20);
    await process.kill("SIGKILL");
    await process.gone;
  });
});

/** Where the box says that it is set up. */
function markOf({ ref: { id } }: RemoteSession): string {
  return `/tmp/.sandkit-ready-${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
