import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { agentCommand } from "../../src/agent/guest-source.js";
import { frameType, lane, windowBytes } from "../../src/agent/protocol.js";
import { GuestClient, type GuestStream, isAlive } from "./guest-client.js";

const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const end = once(child, "exit");
    child.stdin?.destroy();
    await end;
  }
});

async function start(options: { prefix?: readonly string[]; args?: readonly string[]; ttlMs?: number } = {}) {
  const [, ...args] = await agentCommand("node", options.args);
  const [file = "", ...argv] = [...(options.prefix ?? []), process.execPath, ...args];
  const child = spawn(file, argv, { cwd: "/", detached: true, stdio: ["pipe", "pipe", "pipe"] });
  running.push(child);
  child.stdin.on("error", () => undefined);
  const client = new GuestClient(child.stdin, child.stdout);
  return { child, client, ready: await client.hello({ ttlMs: options.ttlMs ?? null }) };
}

async function printed(run: GuestStream): Promise<string> {
  while (!run.bytes().includes("\n")) await sleep(5);
  return run.bytes().toString().trim();
}

describe("the agent in JavaScript", () => {
  it("says what it is and what it lacks", async () => {
    const { client, ready } = await start();
    expect(ready.ok).toMatchObject({ version: 1, killTree: "emulated", pty: false });
    expect(ready.ok?.runtime).toBe(`node ${process.versions.node}`);
    const terminal = client.spawn(["true"], { pty: { columns: 80, rows: 24 } });
    expect((await terminal.reply.promise).error?.errno).toBe("ENOTSUP");
    expect((await client.ask({ op: "remove", path: "/", recursive: true })).error?.errno).toBe("EBUSY");
  });

  it("gives programs real pipes: what they open by name is what they have", async () => {
    const { client } = await start();
    const run = client.sh("echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin", { stdin: true });
    run.data("in");
    run.end(2);
    expect([await run.text(), await run.text(lane.err)]).toEqual(["out\nin", "err\n"]);
    const merged = client.sh("for n in 1 2 3; do echo o$n; echo e$n >&2; done", { mergeStderr: true });
    expect(await merged.text()).toBe("o1\ne1\no2\ne2\no3\ne3\n");
  });

  it("tells what cannot be run as the kernel would", async () => {
    const { client } = await start();
    for (const [command, code, text] of [
      ["no-such-program", 127, "sandkit: no-such-program: command not found\n"],
      ["/etc/passwd", 126, "sandkit: /etc/passwd: Permission denied\n"],
      ["/usr", 126, "sandkit: /usr: Permission denied\n"],
    ] as const) {
      const run = client.spawn([command]);
      expect(await run.text(lane.err)).toBe(text);
      expect((await run.exited.promise).code).toBe(code);
      await run.gone.promise;
    }
    const script = "printf '#!/no/such\\n' > /tmp/$0; printf 'echo hi' > /tmp/$0.txt; chmod +x /tmp/$0 /tmp/$0.txt";
    const name = `sandkit-${process.pid}`;
    await client.spawn(["sh", "-c", script, name]).gone.promise;
    for (const file of [`/tmp/${name}`, `/tmp/${name}.txt`]) {
      const run = client.spawn([file]);
      expect(await run.text(lane.err)).toContain("Exec format error");
      expect((await run.exited.promise).code).toBe(126);
      await client.ask({ op: "remove", path: file, recursive: false });
    }
  });

  it("holds up a program whose output nobody takes, alone", async () => {
    const { client } = await start();
    const flood = client.spawn(["yes"], {}, false);
    await sleep(300);
    expect(flood.bytes().length).toBe(windowBytes);
    expect(await client.sh("echo on").text()).toBe("on\n");
    await client.kill(flood);
    await flood.gone.promise;
  });

  it("ends what hides by a double fork or a session of its own, as long as it has a trace", async () => {
    const { client } = await start();
    const bystander = client.sh("echo $$; sleep 300");
    const run = client.sh("trap '' TERM; (setsid sh -c 'echo $$; sleep 300' &) ; (sleep 300 &) ; sleep 300");
    const hidden = Number(await printed(run));
    await client.kill(run);
    await run.gone.promise;
    expect(await isAlive(hidden)).toBe(false);
    expect(await isAlive(Number(await printed(bystander)))).toBe(true);
  });

  it("ends what forks and ends all the time", { timeout: 60_000 }, async () => {
    const { client } = await start();
    const trace = join(mkdtempSync(join(tmpdir(), "sandkit-hop-")), "trace");
    const hop = `sh -c 'f() { touch ${trace}; f & exit; }; f' &`;
    for (let round = 0; round < 10; round++) {
      const run = client.sh(`${hop} ${hop} ${hop} sleep 300`);
      await run.reply.promise;
      await sleep(200);
      await client.kill(run);
      await run.gone.promise;
      rmSync(trace);
      await sleep(50);
      expect(existsSync(trace)).toBe(false);
    }
    rmSync(dirname(trace), { recursive: true });
  });

  it("does not open its debugger to a signal", async () => {
    const { child, client } = await start();
    child.kill("SIGUSR1");
    await sleep(200);
    expect(await client.sh("echo on").text()).toBe("on\n");
    const listening = readFileSync(`/proc/${child.pid}/net/tcp`, "utf8");
    expect(listening.toUpperCase()).not.toContain(":240D 00000000:0000 0A");
  });

  it("ends with all its programs at the end of its time and of its channel", async () => {
    const short = await start({ ttlMs: 300 });
    const pid = Number(await printed(short.client.sh("trap '' TERM; echo $$; sleep 300")));
    expect((await short.client.farewell.promise).reason).toBe("ttl");
    await short.client.ended.promise;
    expect(await isAlive(pid)).toBe(false);
    const other = await start();
    const second = Number(await printed(other.client.sh("trap '' TERM; echo $$; sleep 300")));
    const end = once(other.child, "exit");
    other.child.stdin?.destroy();
    await end;
    expect(await isAlive(second)).toBe(false);
  });

  it("takes a busy ping for use", async () => {
    const { client } = await start();
    client.frame(frameType.ping, 0, 0, Uint8Array.of(1));
    expect(await client.sh("echo on").text()).toBe("on\n");
  });
});

const alone = process.getuid?.() === 0 && existsSync("/usr/bin/unshare");
describe.runIf(alone)("the agent in JavaScript, alone in its pid namespace", () => {
  const user = 64321;
  const inOwnBox = {
    prefix: ["unshare", "--pid", "--fork", "--mount-proc"],
    args: ["--uid", `${user}`, "--gid", `${user}`],
  };

  it("gives up its rights before it reads, and cannot be read", async () => {
    const { client } = await start(inOwnBox);
    const status = await client
      .sh("id -u; id -g; grep -E 'Cap(Eff|Prm)|Groups' /proc/self/status /proc/$PPID/status")
      .text();
    expect(status.split("\n").slice(0, 2)).toEqual([`${user}`, `${user}`]);
    expect(status.match(/Cap\w+:\t0{16}/g)).toHaveLength(4);
    const look = client.sh("for f in fd environ mem maps; do ls /proc/$PPID/fd; cat /proc/$PPID/$f; done | wc -c");
    expect((await look.text()).trim()).toBe("0");
  });

  it("ends daemons that have no trace at all", async () => {
    const { client } = await start(inOwnBox);
    const script =
      "env -i setsid sh -c 'env -i sh -c \"echo \\$\\$; exec sleep 300 >&- 2>&-\" & exit' & sleep 0.2; exec sleep 300";
    const run = client.sh(script);
    await printed(run);
    await client.kill(run);
    await run.gone.promise;
    // What is dead has no command line, whether or not somebody has collected it.
    const left = await client.sh("cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'").text();
    expect(left.split("\n")).not.toContain("sleep");
  });

  it("refuses to run with rights left", async () => {
    const [, ...args] = await agentCommand("node", ["--uid", "0", "--gid", "0"]);
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    const text: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => text.push(chunk));
    const [code] = await once(child, "exit");
    expect([code, Buffer.concat(text).toString()]).toEqual([70, expect.stringContaining("capabilities")]);
  });
});

it("leaves none of its pipes' names behind", async () => {
  const names = () => readdirSync("/dev/shm").filter((name) => name.startsWith(".sandkit-"));
  const before = new Set(names());
  const { client } = await start();
  await client.sh("true").gone.promise;
  await sleep(300);
  expect(names().filter((name) => !before.has(name))).toEqual([]);
});
