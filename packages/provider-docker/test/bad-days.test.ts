import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterEach, expect, it } from "vitest";
import { EngineConnector } from "../src/engine/connector.js";
import { docker } from "../src/index.js";
import { PauseState } from "../src/pause-state.js";
import { describeOnEngine, engine, testImages } from "./engine.js";

const provider = docker({ images: testImages, pull: "never" });
let open: Sandbox[] = [];

async function sandbox(options: Parameters<typeof createSandbox>[1] = {}): Promise<Sandbox> {
  const made = await createSandbox(provider, options);
  open.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(open.map((one) => one.destroy()));
  open = [];
});

/** The container under a sandbox. */
async function containerOf({ ref }: Sandbox) {
  const found = await engine.listContainers({ all: true, filters: { label: [`sandkit.id=${ref.id}`] } });
  const [first] = found;
  if (!first) throw new Error(`sandbox ${ref.id} has no container`);
  return engine.getContainer(first.Id);
}

async function works(one: Sandbox): Promise<void> {
  expect((await one.exec("echo fine", { timeoutMs: 20_000 })).stdout.text).toBe("fine\n");
  await one.files.write("after", "file");
  expect(await one.files.readText("after")).toBe("file");
}

const bomb = ["python3", "-c", "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"];
const eatMemory = ["python3", "-c", "held = []\nwhile True: held.append(bytearray(16 << 20))"];

describeOnEngine("a sandbox in a container survives", () => {
  it("a fork bomb, whose tree is dead at its deadline", async () => {
    const one = await sandbox({ resources: { pids: 128 } });
    const result = await one.exec(bomb, { timeoutMs: 1_500, killGraceMs: 100 });
    expect(result.reason).toBe("timeout");
    await works(one);
    const left = await one.exec("ps -e -o pid= 2>/dev/null | wc -l || ls -d /proc/[0-9]* | wc -l");
    expect(Number(left.stdout.text)).toBeLessThan(20);
  });

  it("a fork bomb that its own leader has left: files and the end of the sandbox still work", async () => {
    const one = await sandbox({ resources: { pids: 128 } });
    await one.exec("bomb() { bomb | bomb & }; bomb; exit 0", { timeoutMs: 5_000 });
    await one.files.write("after", "file");
    expect(await one.files.readText("after")).toBe("file");
    expect((await one.info()).state).toBe("running");
  });

  it("a memory bomb: that program ends for memory, its siblings and the files live on", async () => {
    const one = await sandbox({ resources: { memoryMiB: 256 } });
    await one.files.write("kept", "before");
    const sibling = await one.spawn("sleep 30; echo slept");
    const result = await one.exec(eatMemory, { timeoutMs: 60_000 });
    expect([result.reason, result.exitCode]).toEqual(["oom", null]);
    expect(await one.files.readText("kept")).toBe("before");
    expect((await one.processes()).find(({ id }) => id === sibling.id)?.running).toBe(true);
    await works(one);
  });

  it("memory bombs all at once", async () => {
    const one = await sandbox({ resources: { memoryMiB: 256 } });
    const results = await Promise.all(Array.from({ length: 6 }, () => one.exec(eatMemory, { timeoutMs: 60_000 })));
    expect(results.filter(({ ok }) => ok)).toEqual([]);
    await works(one);
  });

  it("every writable place full, in one go", { timeout: 120_000 }, async () => {
    const one = await sandbox({ resources: { memoryMiB: 256 } });
    const places = [one.workdir, "/app", "/tmp", "/tools", "/dev/shm"];
    for (const place of places) {
      await one.exec(["sh", "-c", 'head -c 1000000000 /dev/zero > "$1/full"', "fill", place], { timeoutMs: 60_000 });
    }
    await expect(one.files.write("more", new Uint8Array(1 << 20))).rejects.toMatchObject({ code: "NO_SPACE" });
    expect((await one.exec("echo fine", { timeoutMs: 20_000 })).stdout.text).toBe("fine\n");
    for (const place of places) await one.files.remove(`${place}/full`);
    await works(one);
  });

  it("a million empty files", { timeout: 120_000 }, async () => {
    const one = await sandbox();
    const result = await one.exec(["python3", "-c", "for n in range(1_000_000): open(f'f{n}', 'w').close()"]);
    expect(result.stderr.text).toContain("No space left");
    await one.exec("rm -f f1*");
    await works(one);
  });

  it("half a gigabyte of output, without holding it", { timeout: 120_000 }, async () => {
    const one = await sandbox();
    const before = process.memoryUsage().rss;
    let seen = 0;
    const result = await one.exec(["head", "-c", "500000000", "/dev/zero"], {
      onOutput: ({ bytes }) => {
        seen += bytes.length;
      },
    });
    expect([result.exitCode, seen, result.stdout.totalBytes, result.stdout.truncated]).toEqual([0, 5e8, 5e8, true]);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
  });

  it("a hundred thousand writes of one byte while the host is busy", { timeout: 120_000 }, async () => {
    const one = await sandbox();
    const code = "import os\nfor n in range(100_000): os.write(1 + n % 2, b'x')";
    const running = one.exec(["python3", "-c", code]);
    const until = performance.now() + 1_500;
    while (performance.now() < until);
    const result = await running;
    expect([result.stdout.totalBytes, result.stderr.totalBytes]).toEqual([50_000, 50_000]);
    await works(one);
  });

  it("a program that fills its own pipes and never ends, beside others", async () => {
    const one = await sandbox();
    const stuck = await one.spawn(["python3", "-c", "import os\nwhile True: os.write(1, b'x' * 65536)"]);
    const reader = stuck.stdout[Symbol.asyncIterator]();
    await reader.next();
    await works(one);
    await stuck.kill();
    expect((await stuck.wait()).reason).toBe("signaled");
    await works(one);
  });

  it("a program that closes, floods and forges on every descriptor it can find", async () => {
    const one = await sandbox();
    const forge = `
import os
frame = bytes.fromhex("0000000a0a000000000000") + b"{}" 
for folder in ["/proc/self/fd", *(f"/proc/{pid}/fd" for pid in os.listdir("/proc") if pid.isdigit())]:
    try: names = os.listdir(folder)
    except OSError: continue
    for name in names:
        try: os.write(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK), frame * 100)
        except OSError: pass
for number in range(3, 256):
    try: os.write(number, frame * 100)
    except OSError: pass
`;
    await one.exec(["python3", "-c", forge], { timeoutMs: 20_000 });
    await works(one);
  });
});

describeOnEngine("the agent in a container", () => {
  it("cannot be read, signalled to death or traced by the programs beside it", async () => {
    const one = await sandbox();
    const spy = `
import os, signal
denied = []
for path in ["/proc/1/mem", "/proc/1/environ", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/maps"]:
    try: open(path, "rb").read(1); denied.append(f"{path} is open")
    except OSError: pass
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV):
    try: os.kill(1, number)
    except OSError: pass
print(denied)
`;
    expect((await one.exec(["python3", "-c", spy])).stdout.text).toBe("[]\n");
    await works(one);
  });

  it("is asked to end by a program, and does not", async () => {
    const one = await sandbox();
    const result = await one.exec("for name in TERM INT HUP QUIT USR1 ABRT; do kill -$name 1; done; echo there");
    expect(result.stdout.text).toBe("there\n");
    await works(one);
  });

  it("loses its supervisors to a program, which changes nothing for the others", async () => {
    const one = await sandbox();
    const sibling = await one.spawn("sleep 3; echo slept");
    const parricide = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)";
    const result = await one.exec(["python3", "-c", parricide], { timeoutMs: 20_000 });
    expect(result.exitCode).toBeNull();
    await works(one);
    expect((await sibling.wait()).stdout.text).toBe("slept\n");
  });
});

describeOnEngine(
  "a program that makes itself as dear to the kernel as the agent, and takes all memory where it is nobody's",
  () => {
    it("is ended for memory, or costs the sandbox, which says so", async () => {
      const one = await sandbox({ resources: { memoryMiB: 128, diskMiB: 16 } });
      const hidden = `
import os
with open("/proc/self/oom_score_adj", "w") as score: score.write("0")
held = os.memfd_create("held")
while True: os.write(held, bytes(1 << 20))
`;
      const end = one.exec(["python3", "-c", hidden], { timeoutMs: 60_000 }).then(
        ({ reason }) => reason,
        (error) => `${error.code}: ${error.message}`,
      );
      expect(await end).toMatch(/^oom$|^SANDBOX_LOST: .*its memory ran out/);
    });
  },
);

describeOnEngine("an engine that changes under a sandbox", () => {
  it("has the container removed by somebody else: SANDBOX_LOST, and destroy is content", async () => {
    const one = await sandbox();
    const running = one.exec("sleep 60");
    running.catch(() => undefined);
    await (await containerOf(one)).remove({ force: true });
    await expect(running).rejects.toMatchObject({
      code: "SANDBOX_LOST",
      message: expect.stringContaining("somebody ended its container"),
    });
    await expect(one.exec("true")).rejects.toMatchObject({ code: expect.stringMatching(/SANDBOX_LOST|NOT_FOUND/) });
    expect((await one.info()).state).toBe("gone");
    await one.destroy();
  });

  it("has the container killed by somebody else", async () => {
    const one = await sandbox();
    const cell = one.runCode("import time; time.sleep(60)");
    cell.catch(() => undefined);
    await one.exec("true");
    await (await containerOf(one)).kill();
    const outcome = await cell.then(
      ({ stateLost }) => stateLost,
      (error) => error.code,
    );
    expect([true, "SANDBOX_LOST"]).toContain(outcome);
    await one.destroy();
  });

  it("has the container paused: a command waits for its deadline and no longer, and nothing is given up for it", {
    timeout: 60_000,
  }, async () => {
    const one = await sandbox();
    await one.exec("true");
    const container = await containerOf(one);
    // A look that began before this program paused it itself knows nothing of that.
    const state = new PauseState();
    const look = state.look(await new EngineConnector({}).connect(), container.id, one.ref.id);
    state.set(true);
    await look;
    expect(state.paused).toBe(true);
    await container.pause();
    await expect(one.exec("echo late", { timeoutMs: 500 })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect((await one.info()).state).toBe("paused");
    await expect(one.exec("echo later")).rejects.toThrow(/call resume\(\) first/);
    await one.resume();
    await works(one);
    await one.pause();
    await one.destroy();
    await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
  });

  it("loses the image of a running sandbox, which goes on; the next create says how to get one", async () => {
    const version = `${Date.now()}`;
    const tag = `sandkit-test/deleted:${version}`;
    await engine.getImage(testImages.python).tag({ repo: "sandkit-test/deleted", tag: version });
    const one = await sandbox({ image: tag });
    await engine.getImage(tag).remove({ force: true });
    expect((await one.exec("echo fine")).stdout.text).toBe("fine\n");
    await expect(createSandbox(provider, { image: tag })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("docker pull"),
    });
  });

  it("is not there: UNAVAILABLE soon, with what to do", async () => {
    const nowhere = docker({ host: "unix:///nonexistent/engine.sock" });
    const started = performance.now();
    await expect(createSandbox(nowhere)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await nowhere.check()).toMatchObject({ ok: false, fix: expect.anything() });
  });
});

describeOnEngine("creates", () => {
  it("fifty at once all work, and leave nothing", { timeout: 300_000 }, async () => {
    const label = { burst: String(Date.now()) };
    const made = await Promise.all(
      Array.from({ length: 50 }, () => sandbox({ labels: label, resources: { memoryMiB: 256 } })),
    );
    const said = await Promise.all(made.map((one, index) => one.exec(["echo", String(index)])));
    expect(said.map(({ stdout }) => stdout.text)).toEqual(made.map((_, index) => `${index}\n`));
    await Promise.all(made.map((one) => one.destroy()));
    const left = [];
    for await (const info of provider.list({ labels: label })) left.push(info);
    expect(left).toEqual([]);
  });
});
