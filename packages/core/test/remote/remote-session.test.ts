import { createHash } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { deferred } from "../../src/deferred.js";
import { SandboxError } from "../../src/errors.js";
import { readBulk } from "../../src/remote/bulk-files.js";
import { type RemoteSession, remoteSession } from "../../src/remote/remote-session.js";
import { Sandbox } from "../../src/sandbox.js";
import { LocalBox } from "./remote-box.js";

const sessions: RemoteSession[] = [];

async function open(box = new LocalBox(), options: Partial<Parameters<typeof remoteSession>[1]> = {}) {
  const session = await remoteSession(box, { origin: "created", ...options });
  sessions.push(session);
  return { box, session, sandbox: new Sandbox(session) };
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.destroy()));
});

it("runs commands with their exit codes and outputs", async () => {
  const { sandbox } = await open();
  const result = await sandbox.exec("echo out; echo err >&2; exit 3");
  expect(result).toMatchObject({ exitCode: 3, stdout: { text: "out\n" }, stderr: { text: "err\n" } });
});

it("keeps files and the state of kernels", async () => {
  const { sandbox } = await open();
  await sandbox.files.write("a/b.txt", "hello");
  expect(await sandbox.files.readText("a/b.txt")).toBe("hello");
  await sandbox.runCode("x = 20");
  expect((await sandbox.runCode("x + 1")).value).toBe(21);
});

it("goes on where it was when the connection drops", async () => {
  const { box, sandbox } = await open();
  const running = sandbox.exec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done; exit 5");
  await sleep(500);
  box.lastTerminal.drop();
  const result = await running;
  expect(result).toMatchObject({ exitCode: 5, stdout: { text: "1\n2\n3\n4\n5\n6\n" } });
  expect(box.lastTerminal.connects).toBe(2);
});

it("is lost when the program on the terminal has gone, and says so", async () => {
  const { box, sandbox } = await open();
  const running = sandbox.exec("sleep 60");
  await sleep(300);
  await box.lastTerminal.end();
  await expect(running).rejects.toMatchObject({
    code: "SANDBOX_LOST",
    message: expect.stringContaining("the program on its terminal has ended"),
  });
});

it("ends a timed out command though nothing was reached when its time was over", async () => {
  const { box, sandbox } = await open();
  const running = sandbox.exec("echo begun; sleep 60", { timeoutMs: 500 });
  await sleep(300);
  box.lastTerminal.faults.unreachable = true;
  box.lastTerminal.drop();
  await sleep(7_000);
  box.lastTerminal.faults.unreachable = false;
  expect(await running).toMatchObject({ reason: "timeout", stdout: { text: "begun\n" } });
});

describe("where it is started", () => {
  it.each(["/bin/sh", "/bin/bash", "/bin/dash"])("by %s as an interactive login shell", async (shell) => {
    const { sandbox } = await open(new LocalBox({ shell: [shell, "-i", "-l"] }));
    expect((await sandbox.exec("echo $HOME")).exitCode).toBe(0);
  });

  it("starts where the shell of the terminal was, with its HOME and the PATH of a login shell", async () => {
    const home = await mkdtemp(join(tmpdir(), "sandkit-home-"));
    await writeFile(join(home, "marker"), "");
    const env = { PATH: process.env.PATH ?? "", HOME: home, FROM_VENDOR: "yes" };
    const box = new LocalBox({ cwd: home, env });
    const { workdir: _workdir, ...unsure } = { ...box, ...methodsOf(box), env: {} };
    const session = await remoteSession(unsure, { origin: "created" });
    sessions.push(session);
    expect(session.workdir).toBe(home);
    const shown = await new Sandbox(session).exec("echo $FROM_VENDOR; ls ~; echo $TERM; echo $PATH");
    expect(shown.stdout.text).toMatch(/^yes\nmarker\n\n.*\/usr\/bin/);
    await rm(home, { recursive: true });
  });

  it("says what a terminal said that is no shell", async () => {
    const box = new LocalBox({ shell: ["/bin/sh", "-c", "echo no room on this machine; exit 1"] });
    await expect(open(box)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("no room on this machine"),
    });
  });

  it("gives up a terminal that says too much", async () => {
    const box = new LocalBox({ shell: ["/bin/cat", "/dev/zero"] });
    await expect(open(box)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("more than"),
    });
  });
});

describe("two clients of one box", () => {
  it("share its agent, also when they come at the same time", async () => {
    const box = new LocalBox();
    const [first, second] = await Promise.all([open(box, { detached: true }), open(box, { detached: true })]);
    const parents = await Promise.all([first, second].map(({ sandbox }) => sandbox.exec("ps -o ppid= -p $PPID")));
    const [one, other] = parents.map(({ stdout }) => stdout.text.trim());
    expect(one).toMatch(/^\d+$/);
    expect(other).toBe(one);
  });

  it("leave what runs in a detached one to the next", async () => {
    const { box, sandbox } = await open(new LocalBox(), { detached: true });
    await sandbox.spawn("while sleep 0.1; do date +%s%N > alive; done");
    await expect.poll(() => sandbox.files.readText("alive").catch(() => "")).not.toBe("");
    await box.lastTerminal.end();
    const { sandbox: next } = await open(box, { detached: true, origin: "attached", startAgent: false });
    const before = await next.files.readText("alive");
    await expect.poll(() => next.files.readText("alive")).not.toBe(before);
  });

  it("wait for who sets it up, whose end is the end of what is half made", async () => {
    const box = new LocalBox();
    await open(box, { detached: true, settingUp: true });
    const join = () => remoteSession(box, { origin: "attached", startAgent: false, detached: true });
    await expect(join()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("still being set up"),
    });
    await box.terminals[0]?.end();
    await expect.poll(() => join().catch(({ code }) => code), { timeout: 10_000 }).toBe("NOT_FOUND");
  });

  it("are not given a new agent where the old one has ended, if that is asked", async () => {
    const box = new LocalBox();
    await expect(open(box, { origin: "attached", startAgent: false })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe.skipIf(process.getuid?.() !== 0)("a terminal that is root's", () => {
  /** What other users may execute too. */
  const systemOnly = { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } };

  it("has programs run as the user of the box, who cannot talk to the agent", async () => {
    const root = await mkdtemp(join(tmpdir(), "sandkit-user-"));
    await chmod(root, 0o777);
    const box = Object.assign(new LocalBox(systemOnly), {
      user: "nobody",
      workdir: join(root, "work"),
      directories: [],
    });
    const { session, sandbox } = await open(box);
    const shown = await sandbox.exec("id -un; stat -c %U .; echo $USER");
    expect(shown.stdout.text).toBe("nobody\nnobody\nnobody\n");
    const intrude = `import socket
client = socket.socket(socket.AF_UNIX)
client.connect(b"\\0${agentNameOf(session)}")
print(client.recv(100))`;
    expect((await sandbox.exec(["/usr/bin/env", "python3", "-c", intrude])).stdout.text).toBe("b''\n");
    await session.destroy();
    await rm(root, { recursive: true });
  });

  it("refuses a user whom the box does not have", async () => {
    const box = Object.assign(new LocalBox(), { user: "somebody-else" });
    await expect(open(box)).rejects.toMatchObject({ message: expect.stringContaining("somebody-else") });
  });
});

function pausable(keeps: "processes" | "files") {
  const box = new LocalBox();
  const terminal = () => box.lastTerminal;
  const pause = {
    keeps,
    pause: async () => {
      box.state = "paused";
      if (keeps === "processes") await terminal().freeze("SIGSTOP");
      else await terminal().end();
      terminal().faults.unreachable = true;
      terminal().drop();
    },
    resume: async () => {
      box.state = "running";
      if (keeps === "processes") await terminal().freeze("SIGCONT");
      terminal().faults.unreachable = false;
    },
  };
  return Object.assign(box, { pause });
}

describe("changes of a box", () => {
  /** A pausable one that takes its time, and writes down what it is told. */
  function slow() {
    const said: string[] = [];
    const box = pausable("processes");
    const { pause } = box;
    const takes = async (what: string, work: () => Promise<void>) => {
      said.push(`${what} begins`);
      await sleep(150);
      await work();
      said.push(`${what} ends`);
    };
    const parts = {
      native: {},
      pause: {
        ...pause,
        pause: () => takes("pause", pause.pause),
        resume: () =>
          takes("resume", async () => {
            parts.native = {};
            await pause.resume();
          }),
      },
      snapshot: async () => {
        await takes("snapshot", async () => undefined);
        return { id: "copy" };
      },
      extend: () => takes("renewal", async () => undefined),
      destroy: () => takes("destroy", () => LocalBox.prototype.destroy.call(box)),
    };
    return { said, box: Object.defineProperty(Object.assign(box, parts), "native", { get: () => parts.native }) };
  }

  it("come one after another, none while a renewal is under way, and a destroy waits for the one under way", async () => {
    const { said, box } = slow();
    const { session } = await open(box);
    const before = session.native;
    // The first renewal is under way.
    await expect.poll(() => said).toEqual(["renewal begins"]);
    const paused = session.pause?.();
    const resumed = session.resume?.();
    const copied = session.snapshot?.();
    await Promise.all([paused, resumed, copied]);
    const changes = () => said.filter((what) => !what.startsWith("renewal"));
    const pairs = ["pause", "resume", "snapshot"].flatMap((what) => [`${what} begins`, `${what} ends`]);
    expect(changes()).toEqual(pairs);
    expect(said.slice(0, 3)).toEqual(["renewal begins", "renewal ends", "pause begins"]);
    expect(session.native).not.toBe(before);

    said.splice(0);
    const pausing = session.pause?.();
    await expect.poll(() => changes()).toEqual(["pause begins"]);
    const late = expect(session.resume?.()).rejects.toMatchObject({ code: "NOT_FOUND" });
    await Promise.all([session.destroy(), session.destroy(), pausing, late]);
    expect(changes()).toEqual(["pause begins", "pause ends", "destroy begins", "destroy ends"]);
  });
});

it("what runs in a box that a renewal found gone is told so at once, with the reason; others are not believed", async () => {
  const box = new LocalBox();
  let renewals = 0;
  const extend = async () => {
    renewals += 1;
    throw new SandboxError("NOT_FOUND", "the vendor says so");
  };
  const explainLoss = async () => "somebody ended it";
  const { sandbox } = await open(Object.assign(box, { extend, explainLoss }), { leaseMs: 3_000 });
  const running = sandbox.exec("sleep 60");
  const lost = expect(running).rejects.toMatchObject({
    code: "SANDBOX_LOST",
    message: expect.stringContaining("is gone (somebody ended it)"),
  });
  await expect.poll(() => renewals, { timeout: 5_000 }).toBe(2);
  expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
  box.state = "gone";
  await lost;
  const count = renewals;
  await sleep(1_200);
  expect(renewals).toBe(count);
});

it("a box that stands still while it is copied is not taken for paused, nor for lost", async () => {
  const box = new LocalBox();
  const snapshot = async () => {
    box.state = "paused";
    box.lastTerminal.faults.unreachable = true;
    box.lastTerminal.drop();
    await sleep(4_000);
    box.state = "running";
    box.lastTerminal.faults.unreachable = false;
    return { id: "copy" };
  };
  const { session, sandbox } = await open(Object.assign(box, { snapshot }));
  const running = sandbox.exec("sleep 1; echo done");
  await sleep(200);
  expect(await session.snapshot?.()).toEqual({ id: "copy" });
  expect((await running).stdout.text).toBe("done\n");
  expect((await session.info()).state).toBe("running");
});

it("a box goes on after a pause that came while its link was being found again", async () => {
  const { box, session, sandbox } = await open(pausable("processes"));
  box.lastTerminal.faults.unreachable = true;
  box.lastTerminal.drop();
  await sleep(300);
  await session.pause?.();
  await session.resume?.();
  expect((await sandbox.exec("echo on")).stdout.text).toBe("on\n");
});

describe("a box that is paused", () => {
  it("keeps processes and kernels where its vendor does", async () => {
    const { session, sandbox } = await open(pausable("processes"));
    await sandbox.runCode("x = 20");
    const running = sandbox.exec("sleep 1; echo done");
    await sleep(200);
    await session.pause?.();
    await expect(sandbox.exec("true")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("resume()"),
    });
    expect((await session.info()).state).toBe("paused");
    await session.resume?.();
    expect((await sandbox.runCode("x + 1")).value).toBe(21);
    expect((await running).stdout.text).toBe("done\n");
  });

  it("keeps files only, where its vendor does, and says what became of the rest", async () => {
    const { session, sandbox } = await open(pausable("files"));
    await sandbox.files.write("kept", "yes");
    const running = sandbox.exec("sleep 60");
    await sleep(200);
    const lost = expect(running).rejects.toMatchObject({
      code: "SANDBOX_LOST",
      message: expect.stringContaining("paused"),
    });
    await session.pause?.();
    await lost;
    await session.resume?.();
    expect(await sandbox.files.readText("kept")).toBe("yes");
    expect((await sandbox.exec("exit 7")).exitCode).toBe(7);
  });

  it("is found stopped by somebody else, and resumed with its files", async () => {
    const box = pausable("files");
    const { session, sandbox } = await open(box);
    await sandbox.files.write("kept", "yes");
    const running = sandbox.exec("sleep 60");
    const lost = expect(running).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    await sleep(200);
    await box.pause.pause();
    await lost;
    await expect.poll(() => sandbox.exec("true").catch((error) => error.code), { timeout: 20_000 }).toBe("UNAVAILABLE");
    await session.resume?.();
    expect(await sandbox.files.readText("kept")).toBe("yes");
  });

  it("is found paused by somebody else, and resumed", async () => {
    const box = pausable("processes");
    const { session, sandbox } = await open(box);
    await sandbox.runCode("x = 20");
    await box.pause.pause();
    await expect.poll(() => sandbox.exec("true").catch((error) => error.code), { timeout: 20_000 }).toBe("UNAVAILABLE");
    await session.resume?.();
    expect((await sandbox.runCode("x + 1")).value).toBe(21);
  });
});

describe("large files", () => {
  /** The vendor's way is this machine's own file system. */
  function withBulk(cut = false) {
    const calls: string[] = [];
    const box = new LocalBox();
    const bulk = {
      fromBytes: 100_000,
      read: async (path: string) => {
        calls.push(`read ${path}`);
        const file = await import("node:fs");
        const bytes = file.readFileSync(path);
        return new Blob([cut ? bytes.subarray(0, 1000) : bytes]).stream();
      },
      write: async (path: string, data: ReadableStream<Uint8Array>, signal?: AbortSignal) => {
        calls.push(`write ${path}`);
        const given = data.pipeThrough(new TransformStream(), signal ? { signal } : {});
        const bytes = Buffer.from(await new Response(given).arrayBuffer());
        await writeFile(path, cut ? bytes.subarray(0, 1000) : bytes);
      },
    };
    return { calls, box: Object.assign(box, { bulk }) };
  }

  it("go by the vendor's way, and are put in their place by the agent", async () => {
    const { calls, box } = withBulk();
    const { sandbox } = await open(box);
    const bytes = Buffer.alloc(300_000, "large ");
    await sandbox.files.write("deep/er/large", bytes, { permissions: 0o750 });
    await sandbox.files.write("small", "small");
    expect(Buffer.from(await sandbox.files.read("deep/er/large")).equals(bytes)).toBe(true);
    expect(await sandbox.files.readText("small")).toBe("small");
    expect((await sandbox.files.stat("deep/er/large")).mode).toBe(0o750);
    await sandbox.files.write("deep/er/large", Buffer.alloc(200_000));
    expect((await sandbox.files.stat("deep/er/large")).mode).toBe(0o750);
    expect(calls.map((call) => call.split(" ")[0])).toEqual(["write", "read", "write"]);
    expect(calls[0]).toMatch(/deep\/er\/\.sandkit-/);
    expect(await sandbox.files.list("deep/er")).toHaveLength(1);
  });

  it("that are cut off leave the old one, and say so", async () => {
    const { box } = withBulk(true);
    const { sandbox } = await open(box);
    await sandbox.exec("head -c 200000 /dev/zero > large");
    await expect(sandbox.files.write("large", Buffer.alloc(300_000, 1))).rejects.toMatchObject({ code: "TRANSPORT" });
    await expect(sandbox.files.read("large")).rejects.toMatchObject({ code: "TRANSPORT" });
    const digest = await sandbox.exec("sha256sum < large; ls -A");
    expect(digest.stdout.text).toContain(createHash("sha256").update(Buffer.alloc(200_000)).digest("hex"));
    expect(digest.stdout.text).not.toContain(".sandkit-");
  });

  it("whose source fails say what it said, and are cancelled when the vendor or the agent fails", async () => {
    const { box } = withBulk();
    const { sandbox, session } = await open(box);
    await sandbox.files.write("large", Buffer.alloc(200_000, 1));
    const mine = new RangeError("the caller's own");
    const write = box.bulk.write;
    box.bulk.write = (path, data) =>
      write(path, data).catch(() => Promise.reject(new SandboxError("UNAVAILABLE", "an upload failed")));
    for (const given of [50_000, 150_000]) {
      const source = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.alloc(given)),
        pull: (controller) => controller.error(mine),
      });
      await expect(sandbox.files.write("large", source)).rejects.toBe(mine);
    }
    let cancelled: unknown;
    const source = (bytes: number) =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(Buffer.alloc(bytes)),
        cancel: (reason) => {
          cancelled = reason;
        },
      });
    const down = new SandboxError("UNAVAILABLE", "the vendor is down");
    box.bulk.write = async () => Promise.reject(down);
    await expect(sandbox.files.write("large", source(60_000))).rejects.toBe(down);
    expect(cancelled).toBe(down);
    await expect(sandbox.files.write("large/in a file", source(60_001))).rejects.toMatchObject({
      code: "NOT_DIRECTORY",
    });
    expect(cancelled).toMatchObject({ code: "NOT_DIRECTORY" });
    expect((await sandbox.exec("stat -c %s large; ls -A")).stdout.text).toBe("200000\nlarge\n");

    // One that was opened, and then cannot be looked at.
    const opened: ReadableStream<Uint8Array>[] = [];
    const files = {
      ...session.files,
      read: async (...args: Parameters<typeof session.files.read>) => {
        const stream = await session.files.read(...args);
        opened.push(stream);
        return stream;
      },
      stat: async () => Promise.reject(down),
    };
    const stage = async () => undefined;
    const blind = { files, stage, ref: session.ref, touch: () => undefined };
    const path = `${session.workdir}/large`;
    await expect(readBulk(blind, box.bulk, path)).rejects.toBe(down);
    expect(await opened[0]?.getReader().read()).toEqual({ done: true, value: undefined });
  });

  it("are written as small ones are: new ones, those behind a link, and those that must not have changed", async () => {
    const { calls, box } = withBulk();
    const { sandbox } = await open(box);
    const large = (byte: number) => Buffer.alloc(150_000, byte);
    await sandbox.files.write("once", large(1), { mode: "exclusive" });
    await expect(sandbox.files.write("once", large(2), { mode: "exclusive" })).rejects.toMatchObject({
      code: "FILE_EXISTS",
    });
    await sandbox.exec("mkdir there; ln -s there/new link");
    await sandbox.files.write("link", large(3));
    await sandbox.files.write("link", large(4));
    expect(await sandbox.files.stat("there/new")).toMatchObject({ type: "file", size: 150_000 });
    const { modifiedAt } = await sandbox.files.stat("once");
    await sandbox.files.write("once", large(5), { ifModifiedAt: modifiedAt });
    await expect(sandbox.files.write("once", large(6), { ifModifiedAt: modifiedAt })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(sandbox.files.write("there", large(7))).rejects.toMatchObject({ code: "IS_DIRECTORY" });
    await sandbox.files.write("once", large(8), { mode: "append" });
    const ways = calls.map((call) => call.replace(/^write .*?([^/]*\/)\.sandkit-.*/, "$1"));
    expect(ways).toEqual(["work/", "there/", "there/", "work/"]);
    expect((await sandbox.exec("ls -A . there; head -c 1 once | od -An -c; stat -c %s once")).stdout.text).toBe(
      ".:\nlink\nonce\nthere\n\nthere:\nnew\n 005\n300000\n",
    );
  });

  it.skipIf(process.getuid?.() !== 0)("keep their owner, as root's agent can", async () => {
    const { box } = withBulk();
    const { sandbox } = await open(box);
    await sandbox.exec("touch theirs && chown 1234:1235 theirs && chmod 640 theirs");
    await sandbox.files.write("theirs", Buffer.alloc(200_000));
    expect((await sandbox.exec("stat -c '%u %g %a' theirs")).stdout.text).toBe("1234 1235 640\n");
  });

  it("that are aborted on the way, or left by their client, leave nothing", async () => {
    const { box } = withBulk();
    const { sandbox } = await open(box, { detached: true });
    await sandbox.files.write("large", Buffer.alloc(200_000, 1));
    const { write } = box.bulk;
    const begun = deferred<void>();
    box.bulk.write = async (...args) => {
      begun.resolve();
      await write(...args);
    };
    const stop = new AbortController();
    const endless = () => new ReadableStream({ start: (controller) => controller.enqueue(Buffer.alloc(150_000)) });
    const aborted = sandbox.files.write("large", endless(), { signal: stop.signal });
    await begun.promise;
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect((await sandbox.exec("stat -c %s large; ls -A")).stdout.text).toBe("200000\nlarge\n");

    sandbox.files.write("large", endless()).catch(() => undefined);
    await expect.poll(async () => (await sandbox.exec("ls -A")).stdout.text).toContain(".sandkit-");
    const { sandbox: next } = await open(box, { detached: true, origin: "attached", startAgent: false });
    await box.terminals[0]?.end();
    await expect.poll(async () => (await next.exec("ls -A")).stdout.text).toBe("large\n");
  });
});

/** As the session names the socket of its agent. */
function agentNameOf({ ref }: RemoteSession): string {
  const digest = createHash("sha256").update(`${ref.provider}\0${ref.id}`).digest("hex");
  return `sandkit-agent-${digest.slice(0, 32)}`;
}

/** A box as a plain object, for a test that leaves something out of it. */
function methodsOf(box: LocalBox) {
  return {
    terminal: () => box.terminal(),
    info: () => box.info(),
    destroy: () => box.destroy(),
  };
}
