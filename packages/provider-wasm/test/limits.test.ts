import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ memoryMiB: 256, diskMiB: 32, warmWorkers: 0 }), {});
});
afterAll(() => sandbox.destroy());

describe("limits", () => {
  it("memory: a MemoryError that the program survives", async () => {
    await sandbox.runCode("kept = 1");
    for (const bomb of [
      "b = bytearray(10**9)",
      "l = []\nwhile True: l.append(bytearray(10**6))",
      "s = 'x' * 5 * 10**8",
    ]) {
      const cell = await sandbox.runCode(bomb, { timeoutMs: 20_000 });
      expect({ bomb, error: cell.error?.name }).toEqual({ bomb, error: "MemoryError" });
      await sandbox.runCode("b = l = s = None");
    }
    expect((await sandbox.runCode("kept")).value).toBe(1);
    const program = await sandbox.exec(["python3", "-c", "b = bytearray(10**9)"]);
    expect([program.exitCode, program.stderr.text]).toEqual([1, expect.stringContaining("MemoryError")]);
  }, 60_000);

  it("memory outside the interpreter's: the worker ends as out of memory, the sandbox lives", async () => {
    const bomb =
      "from pyodide.ffi import to_js\nArray = to_js([]).constructor\nheap = to_js([])\nwhile True: heap.push(Array.new(100000).fill(1.5))";
    const heap = await sandbox.runCode(bomb, { timeoutMs: 30_000, interruptGraceMs: 5_000 });
    expect([heap.reason, heap.stateLost]).toEqual(["oom", true]);
    const buffers =
      "from pyodide.ffi import to_js\nBuffer = to_js(b'1').buffer.constructor\nheld = to_js([])\nwhile True:\n    b = to_js(b'1').constructor.new(Buffer.new(5 * 10**7)); b.fill(1); held.push(b)";
    const program = await sandbox.exec(["python3", "-c", buffers], { timeoutMs: 30_000 });
    expect(program.reason).toBe("oom");
    expect((await sandbox.runCode("1 + 1")).value).toBe(2);
  }, 90_000);

  it("disk: ENOSPC in Python, NO_SPACE from outside, and room again after removal", async () => {
    const fill = await sandbox.runCode(
      "import errno\ntry:\n    with open('big', 'wb') as f:\n        while True: f.write(bytes(10**6))\nexcept OSError as e: code = errno.errorcode[e.errno]\ncode",
    );
    expect(fill.value).toBe("ENOSPC");
    await expect(sandbox.files.write("more", new Uint8Array(5_000_000))).rejects.toMatchObject({ code: "NO_SPACE" });
    expect(await sandbox.files.exists("more")).toBe(false);
    expect(await sandbox.files.remove("big")).toBe(true);
    await sandbox.files.write("more", new Uint8Array(5_000_000));
    expect((await sandbox.runCode("import shutil\nshutil.disk_usage('/').total")).value).toBe(32 * 1024 * 1024);
    const sparse = await sandbox.runCode("open('sparse', 'wb').truncate(10**9)\nimport os\nos.path.getsize('sparse')");
    expect(sparse.value).toBe(1e9);
    await sandbox.files.remove("sparse");
  });

  it("disk: there is no room where the interpreter itself lies, which would be in nobody's count", async () => {
    const cell = await sandbox.runCode(`
import errno
def grow(path, how):
    try:
        with open(path, "wb", buffering=0) as file: how(file)
    except OSError as e: return errno.errorcode[e.errno]
[grow("/dev/shm/x", lambda file: file.write(b"x")), grow("/lib/x", lambda file: file.truncate(10**6))]`);
    expect(cell.value).toEqual(["ENOSPC", "ENOSPC"]);
  });

  it("disk: empty files count too", async () => {
    const small = await createSandbox(wasm(), { resources: { diskMiB: 1 } });
    const cell = await small.runCode(`
import errno, os
try:
    for i in range(10**6): os.symlink("x", f"link{i}")
except OSError as e: failed = errno.errorcode[e.errno]
failed`);
    expect(cell.value).toBe("ENOSPC");
    await small.destroy();
  });

  it("recursion: RecursionError, and where that is switched off the end of the interpreter alone", async () => {
    const plain = await sandbox.runCode("def f(): return f()\nf()");
    expect(plain.error?.name).toBe("RecursionError");
    const deep = await sandbox.runCode(
      "nested = []\nfor _ in range(10**6): nested = [nested]\nimport sys\nsys.setrecursionlimit(10**6)\nrepr(nested)",
      {
        timeoutMs: 30_000,
      },
    );
    expect(deep.ok).toBe(false);
    expect((await sandbox.runCode("2 + 2")).value).toBe(4);
  }, 60_000);

  it("programs at one time: the rest wait for their turn, and kernels do not", async () => {
    const provider = wasm({ maxConcurrentExec: 2, warmWorkers: 0 });
    const narrow = await createSandbox(provider, {});
    expect(narrow.capabilities.limits.maxConcurrentExec).toBe(2);
    const count = `
import os, time
os.mkdir(f"running/{os.getpid()}")
print(len(os.listdir("running")))
time.sleep(0.3)
os.rmdir(f"running/{os.getpid()}")`;
    await narrow.files.write("count.py", count);
    await narrow.files.mkdir("running");
    const results = await Promise.all(Array.from({ length: 6 }, () => narrow.exec(["python3", "count.py"])));
    const counts = results.map(({ stdout }) => Number(stdout.text));
    expect(Math.max(...counts)).toBe(2);
    const waiting = Promise.allSettled([narrow.exec(["sleep", "60"]), narrow.exec(["sleep", "60"])]);
    expect((await narrow.runCode("1 + 1")).value).toBe(2);
    await narrow.destroy();
    await waiting;
  }, 60_000);

  it("processor time: what runs is ended, sleep takes none", async () => {
    const brief = await createSandbox(wasm({ maxCpuMs: 3000, warmWorkers: 0 }), {});
    const idle = await brief.exec(["python3", "-c", "import time; time.sleep(1); print('slept')"]);
    expect(idle.stdout.text).toBe("slept\n");
    const busy = await brief.exec(["python3", "-c", "while True: pass"], { timeoutMs: 60_000 });
    expect([busy.reason, busy.signal]).toEqual(["signaled", "SIGXCPU"]);
    await brief.destroy();
  }, 90_000);

  it("kernels: one more is QUOTA that names the option, until one has ended", async () => {
    const own = await createSandbox(wasm({ maxKernels: 2, warmWorkers: 0 }));
    try {
      await own.runCode("1");
      const second = await own.kernel({ language: "javascript" });
      const refusal = { code: "QUOTA", message: expect.stringMatching(/^2 kernels live.*"maxKernels" of wasm\(\)/) };
      await expect(own.kernel({ id: "third" })).rejects.toMatchObject(refusal);
      await second.restart();
      expect((await second.run("2")).value).toBe(2);
      // The kernel that ends by itself makes room, and so does one that is closed.
      expect((await own.runCode("import os; os._exit(3)")).stateLost).toBe(true);
      const third = await own.kernel({ id: "third" });
      await expect(own.runCode("1")).rejects.toMatchObject(refusal);
      await third[Symbol.asyncDispose]();
      expect((await own.runCode("3")).value).toBe(3);
    } finally {
      await own.destroy();
    }
  }, 60_000);

  it("sandboxes: QUOTA names the option, and one that has ended makes room", async () => {
    const provider = wasm({ maxSandboxes: 2, warmWorkers: 0 });
    const [first, second] = await Promise.all([createSandbox(provider), createSandbox(provider)]);
    await expect(createSandbox(provider)).rejects.toMatchObject({
      code: "QUOTA",
      message: expect.stringMatching(/2 sandboxes live.*"maxSandboxes" of wasm\(\)/),
    });
    await first.destroy();
    await (await createSandbox(provider)).destroy();
    await second.destroy();
  }, 60_000);
});
