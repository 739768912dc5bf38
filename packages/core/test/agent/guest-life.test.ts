import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { agentCommand, bridgeCommand } from "../../src/agent/guest-source.js";
import { frameType, lane } from "../../src/agent/protocol.js";
import { asUser, GuestClient, isAlive, python, type StartedAgent, startAgent, stopAgent } from "./guest-client.js";

const agents: StartedAgent[] = [];
const others: ChildProcess[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) {
    await stopAgent(agent);
    expect(agent.stderr()).toBe("");
  }
  for (const child of others.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const end = once(child, "exit");
    child.kill("SIGTERM");
    await end;
  }
});

async function started(hello: Record<string, unknown> = {}) {
  const agent = await startAgent();
  agents.push(agent);
  const reply = await agent.client.hello(hello);
  return { ...agent, reply };
}

const ended = async ({ process: child }: StartedAgent) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
};

/** A program that is hard to end, and its process id. */
async function stubborn(client: GuestClient): Promise<number[]> {
  const run = client.sh("trap '' TERM HUP; (setsid sleep 300 & echo $!); echo $$; sleep 300");
  while (run.bytes().toString().split("\n").length < 3) await sleep(5);
  return run.bytes().toString().trim().split("\n").map(Number);
}

const noneAlive = async (pids: number[]) => (await Promise.all(pids.map(isAlive))).every((alive) => !alive);

describe("hello", () => {
  it("tells what the agent is, and makes the directories", async () => {
    const root = mkdtempSync(join(tmpdir(), "sandkit-hello-"));
    const { reply, client } = await started({ workdir: `${root}/work`, directories: [`${root}/home/deep`] });
    expect(reply.ok).toMatchObject({ version: 1, killTree: "native", pty: true, workdir: `${root}/work` });
    expect(reply.ok?.runtime).toMatch(/^python 3\.\d+\.\d+$/);
    expect(existsSync(`${root}/home/deep`)).toBe(true);
    expect(await client.sh("pwd").text()).toBe(`${root}/work\n`);
    expect((await client.ask({ op: "info" })).ok).toMatchObject({ shells: ["sh", "bash"], expiresAt: null });
    await rm(root, { recursive: true });
  });

  it("says which directory cannot be made, and can be said again", async () => {
    const { reply, client } = await started({ workdir: "/dev/null/work" });
    expect(reply.error).toMatchObject({ errno: "ENOTDIR", path: "/dev/null/work" });
    expect((await client.hello()).ok).toBeDefined();
  });
});

describe("the end", () => {
  it("of the channel is the end of everything", async () => {
    const agent = await started();
    const pids = await stubborn(agent.client);
    agent.process.stdin?.destroy();
    expect(await ended(agent)).toBe(0);
    expect(await noneAlive(pids)).toBe(true);
  });

  it("by shutdown is answered and said", async () => {
    const agent = await started();
    const pids = await stubborn(agent.client);
    expect((await agent.client.ask({ op: "shutdown" })).ok).toEqual({});
    expect((await agent.client.farewell.promise).reason).toBe("shutdown");
    expect(await ended(agent)).toBe(0);
    expect(await noneAlive(pids)).toBe(true);
  });

  it("by SIGTERM is a shutdown", async () => {
    const agent = await started();
    const pids = await stubborn(agent.client);
    agent.process.kill("SIGTERM");
    expect((await agent.client.farewell.promise).reason).toBe("shutdown");
    expect(await ended(agent)).toBe(0);
    expect(await noneAlive(pids)).toBe(true);
  });

  it("by SIGKILL of the agent ends what its supervisors have", async () => {
    const agent = await started();
    const pids = await stubborn(agent.client);
    agent.process.kill("SIGKILL");
    await once(agent.process, "exit");
    for (let waited = 0; waited < 500 && !(await noneAlive(pids)); waited++) await sleep(20);
    expect(await noneAlive(pids)).toBe(true);
  });

  it("comes at the time to live, which can be moved", async () => {
    const agent = await started({ ttlMs: 1_500 });
    const before = Number((await agent.client.ask({ op: "info" })).ok?.expiresAt) - Date.now();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThanOrEqual(1_501);
    await agent.client.ask({ op: "extend", ttlMs: 4_000 });
    await sleep(2_000);
    expect((await agent.client.ask({ op: "info" })).ok).toBeDefined();
    expect((await agent.client.farewell.promise).reason).toBe("ttl");
    expect(await ended(agent)).toBe(0);
  });

  it("comes after idleness: requests, programs and busy pings are use, a waiting kernel is not", async () => {
    const agent = await started({ idleMs: 1_500 });
    const run = agent.client.sh("sleep 2.5");
    await run.gone.promise;
    for (let count = 0; count < 5; count++) {
      await sleep(500);
      agent.client.frame(frameType.ping, 0, 0, Uint8Array.of(1));
    }
    const kernel = agent.client.spawn(["cat"], { control: true, stdin: true });
    await kernel.reply.promise;
    const start = performance.now();
    for (let count = 0; count < 2; count++) {
      await sleep(500);
      agent.client.frame(frameType.ping, 0, 0, Uint8Array.of(0));
    }
    expect((await agent.client.farewell.promise).reason).toBe("idle");
    expect(performance.now() - start).toBeGreaterThan(1_000);
    expect(await ended(agent)).toBe(0);
  });
});

describe("a detached agent", () => {
  const start = async (uid = process.getuid?.() ?? 0) => {
    const name = `sandkit-test-${randomUUID()}`;
    const [, ...args] = await agentCommand("python", ["detached", String(uid), name]);
    const child = spawn(python, args, { cwd: "/", stdio: ["ignore", "ignore", "inherit"], detached: true });
    others.push(child);
    return { name, child };
  };
  const connect = async (name: string, prefix: readonly string[] = []) => {
    const [, ...args] = await bridgeCommand([name]);
    const [file = python, ...argv] = [...prefix, python, ...args];
    const child = spawn(file, argv, { cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.on("error", () => undefined);
    others.push(child);
    return { child, client: new GuestClient(child.stdin, child.stdout) };
  };

  it("serves several clients, keeps the programs of one that leaves, and ends a lease after the last", async () => {
    const { name, child } = await start();
    const [one, two] = [await connect(name), await connect(name)];
    const first = await one.client.hello({ leaseMs: 2_500, env: { WHOSE: "first" } });
    expect((await two.client.hello({ leaseMs: 1, env: { WHOSE: "second" }, workdir: "/usr" })).ok).toEqual(first.ok);
    expect(await two.client.sh("echo $WHOSE").text()).toBe("first\n");
    const run = one.client.sh("echo $$; exec yes");
    while (!run.bytes().includes("\n")) await sleep(5);
    const pid = Number.parseInt(run.bytes().toString(), 10);
    // Those that have a deadline end at that; what one has left that ended before goes on.
    const bounded = one.client.sh("trap '' TERM; echo $$; sleep 300", { deadlineMs: 1_500 });
    const left = one.client.sh("sleep 300 & echo $!", { deadlineMs: 1_500 });
    await left.exited.promise;
    while (!bounded.bytes().includes("\n")) await sleep(5);
    const [boundedPid, leftPid] = [bounded, left].map((each) => Number.parseInt(each.bytes().toString(), 10));
    one.child.stdin.destroy();
    await once(one.child, "exit");
    await sleep(3_000);
    expect(await Promise.all([pid, boundedPid ?? 0, leftPid ?? 0].map(isAlive))).toEqual([true, false, true]);
    expect(await two.client.sh("echo on").text()).toBe("on\n");
    two.child.kill("SIGKILL");
    await sleep(100);
    const three = await connect(name);
    expect((await three.client.hello()).ok).toEqual(first.ok);
    await sleep(3_000);
    expect(child.exitCode).toBe(null);
    three.child.stdin.destroy();
    const leftAt = performance.now();
    await once(child, "exit");
    expect(performance.now() - leftAt).toBeGreaterThan(500);
    expect(await isAlive(pid)).toBe(false);
  });

  it("outlives a client that leaves in the middle of a write whose temporary file a program has replaced", async () => {
    const root = mkdtempSync(join(tmpdir(), "sandkit-stolen-"));
    const { name, child } = await start();
    const [leaving, staying] = [await connect(name), await connect(name)];
    await leaving.client.hello({ workdir: root });
    await staying.client.hello();
    const write = { op: "write", path: `${root}/file`, mode: "truncate", permissions: null, ifModifiedAt: null };
    leaving.client.open(write);
    while (readdirSync(root).length === 0) await sleep(5);
    await staying.client.sh(`for file in ${root}/.sandkit-*; do rm $file && mkdir $file; done`).text();
    leaving.child.stdin.destroy();
    await once(leaving.child, "exit");
    expect(await staying.client.sh("echo on").text()).toBe("on\n");
    expect(child.exitCode).toBe(null);
    await rm(root, { recursive: true });
  });

  it("ends a client that breaks the protocol, and no other", async () => {
    const { name } = await start();
    const [good, bad] = [await connect(name), await connect(name)];
    await good.client.hello();
    bad.client.open({ op: "info" });
    expect((await bad.client.farewell.promise).reason).toBe("protocol");
    await once(bad.child, "exit");
    expect(await good.client.sh("echo on").text()).toBe("on\n");
  });

  it.runIf(process.getuid?.() === 0 && existsSync("/usr/bin/setpriv"))("does not hear other users", async () => {
    const { name } = await start();
    const guest = await connect(name, asUser(65534));
    const hello = guest.client.hello();
    await once(guest.child, "exit");
    expect(await Promise.race([hello, sleep(50, "unheard")])).toBe("unheard");
    const root = await connect(name);
    expect((await root.client.hello()).ok).toBeDefined();
  });
});

it("speaks text over a terminal that echoes and mangles, after junk", async () => {
  const outer = await started();
  const [, ...args] = await agentCommand("python");
  const run = outer.client.spawn([python, ...args], { stdin: true, pty: { columns: 80, rows: 24 } });
  await run.reply.promise;
  let taken = 0;
  const source = new PassThrough();
  const feeding = setInterval(() => {
    const bytes = run.bytes();
    if (bytes.length > taken) source.write(bytes.subarray(taken));
    taken = bytes.length;
  }, 2);
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      run.data(chunk);
      done();
    },
  });
  sink.write("motd\nSANDKIT-HOST/1 x\n:no frame\n");
  const inner = new GuestClient(sink, source, "text");
  expect((await inner.hello()).ok).toMatchObject({ killTree: "native" });
  sink.write("a line that is not ours\n");
  const echo = inner.sh("cat; exit 4", { stdin: true });
  const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 256));
  echo.data(bytes);
  echo.end(bytes.length);
  expect((await echo.all()).equals(bytes)).toBe(true);
  expect((await echo.exited.promise).code).toBe(4);
  await inner.ask({ op: "shutdown" });
  expect((await run.exited.promise).code).toBe(0);
  clearInterval(feeding);
});

describe.runIf(process.getuid?.() === 0 && existsSync("/usr/bin/setpriv"))("as a user without rights", () => {
  const user = 64321;

  it("keeps its memory, descriptors and environment from programs of the same user", async () => {
    const agent = await startAgent({ user, env: { SECRET: "of the agent" } });
    agents.push(agent);
    await agent.client.hello();
    expect(await agent.client.sh("id -u").text()).toBe(`${user}\n`);
    const pid = agent.process.pid ?? 0;
    const supervisors = readdirSync("/proc").filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      try {
        return readFileSync(`/proc/${name}/stat`, "latin1").match(/\) . (\d+)/)?.[1] === String(pid);
      } catch {
        return false; // It has ended meanwhile.
      }
    });
    expect(supervisors.length).toBeGreaterThan(0);
    const script = `
import os, sys
for pid in sys.argv[1:]:
    for name in ("fd", "mem", "environ", "maps", "cwd"):
        path = "/proc/%s/%s" % (pid, name)
        try:
            if name == "fd": os.listdir(path)
            elif name == "cwd": os.readlink(path)
            else: open(path, "rb").read(1)
            print("open:", path)
        except PermissionError: print("closed")`;
    const run = agent.client.spawn([python, "-I", "-S", "-c", script, String(pid), ...supervisors]);
    expect(await run.text()).toBe("closed\n".repeat(5 * (supervisors.length + 1)));
    expect(await run.text(lane.err)).toBe("");
  });

  it("is the last to be ended when memory runs out", async () => {
    const agent = await startAgent({ user });
    agents.push(agent);
    await agent.client.hello();
    const run = agent.client.sh(
      "cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj; sleep 1; cat /proc/self/oom_score_adj",
    );
    const scores = (await run.text()).trim().split("\n").map(Number);
    expect(scores.at(-1)).toBe(1000);
    expect(scores.at(-2)).toBe(900);
    expect(readFileSync(`/proc/${agent.process.pid}/oom_score_adj`, "utf8").trim()).toBe(
      readFileSync("/proc/self/oom_score_adj", "utf8").trim(),
    );
  });

  it("ends a fork bomb that has taken all the processes of its user", async () => {
    const limited = await startAgent({ user, limits: ["--nproc=60"] });
    agents.push(limited);
    await limited.client.hello();
    const bomb = limited.client.spawn([
      python,
      "-I",
      "-S",
      "-c",
      "import os\nwhile True:\n try: os.fork()\n except OSError: pass",
    ]);
    await bomb.reply.promise;
    await sleep(500);
    await limited.client.kill(bomb);
    await bomb.gone.promise;
    expect(await limited.client.sh("echo alive").text()).toBe("alive\n");
  });
});
