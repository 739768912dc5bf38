import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ diskMiB: 64, warmWorkers: 0 }), {});
});
afterAll(() => sandbox.destroy());

/** Code that has the realm's own intrinsics at hand, as an attacker would. */
const intrinsics = `
import json, os, pyodide_js
import _sandkit.host as host
from pyodide.ffi import to_js
Object = pyodide_js._module.constructor
Bytes = to_js(b"1").constructor
Typed = Object.getPrototypeOf(Bytes)
`;

describe("intrinsics that the guest replaces", () => {
  for (const method of ["set", "subarray", "slice", "fill"]) {
    it(`never get an object of the host: TypedArray.prototype.${method}`, async () => {
      const cell = await sandbox.runCode(
        `${intrinsics}
open("/tmp/bait", "wb").write(b"hello")
file = open("/tmp/bait", "r+b", buffering=0)
caught = to_js([])
original = Typed.prototype.${method}
failed = None
try:
    Typed.prototype.${method} = caught.push.bind(caught)
    file.read(5); file.write(b"12345"); os.write(1, b"x"); os.urandom(8)
except BaseException as error:
    failed = error
Typed.prototype.${method} = original
[item for item in map(lambda x: str(getattr(x, "buffer", None)), caught) if "Shared" in item]`,
        { timeoutMs: 20_000 },
      );
      expect({ error: cell.error, value: cell.value }).toEqual({ error: undefined, value: [] });
    }, 40_000);
  }

  it("views that lie about their length are refused or read as they are", async () => {
    const cell = await sandbox.runCode(
      `${intrinsics}
caught = to_js([])
describe = Object.getOwnPropertyDescriptor
kept = describe(Typed.prototype, "length")
fake = Object.new()
fake.get = caught.push.bind(caught)
fake.configurable = True
Object.defineProperty(Typed.prototype, "length", fake)
try: os.write(1, b"abc")
except BaseException: pass
Object.defineProperty(Typed.prototype, "length", kept)
len(caught) >= 0`,
      { timeoutMs: 20_000 },
    );
    expect(["exited", "signaled", "oom"]).toContain(cell.reason);
    expect((await sandbox.runCode("6 * 7")).value).toBe(42);
  }, 40_000);
});

describe("forged messages to the broker", () => {
  const forged: Readonly<Record<string, string>> = {
    "an end of a cell within one that goes on": `
while True:
    os.write(1, b"x" * 60000)
    host._call("done", '[{"exitCode":0,"outputs":[]}]')`,
    "a result that is none": `host._call("done", '[null]')`,
    "a result with the death that core relies on": `host._call("done", '[{"exitCode":"no","outputs":3}]')`,
    "a result of a hundred thousand levels": `
deep = "[" * 100000 + "]" * 100000
host._call("done", '[{"exitCode":0,"outputs":[{"application/json":' + deep + "}]}]")`,
    "a value of a hundred thousand levels": `
deep = "[" * 100000 + "]" * 100000
host._call("done", json.dumps([{"exitCode": 0, "outputs": [], "value": deep}]))`,
    "a value that is no JSON": `host._call("done", '[{"exitCode":0,"outputs":[],"value":"}"}]')`,
    "twenty million objects": `host._call("handle", "[" + "{}," * 20000000 + "0]")`,
    "a signal that is none": `host._call("handle", "[[],0]")`,
    "no arguments": `host._call("fs.read", "null")`,
    "no JSON": `host._call("exit", "][")`,
    "no operation": `host._call("__proto__", "[]")`,
    "a failure that is no text": `host._call("fatal", '[{"a":1}]')`,
    "a command in a directory of its caller": `host.call("command", ["pip", "install", "-r", "x"], "relative")`,
    "a command in no directory": `host.call("command", ["pip", "list"], "")`,
  };
  for (const [name, code] of Object.entries(forged)) {
    it(`${name}: the interpreter ends, the sandbox and its files live`, async () => {
      await sandbox.files.write("kept", "kept");
      const before = process.memoryUsage().rss;
      const cell = await sandbox.runCode(`${intrinsics}${code}`, { timeoutMs: 20_000 });
      expect(["exited", "signaled", "oom"]).toContain(cell.reason);
      expect((await sandbox.runCode("1 + 1", { timeoutMs: 20_000 })).value ?? "died").toSatisfy(
        (value: unknown) => value === 2 || value === "died",
      );
      expect((await sandbox.runCode("1 + 1", { timeoutMs: 20_000 })).value).toBe(2);
      expect(await sandbox.files.readText("kept")).toBe("kept");
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    }, 60_000);
  }

  it("with values that cannot be meant are refused, and nothing else happens", async () => {
    const cell = await sandbox.runCode(`${intrinsics}
place = {"cwd": "/", "env": {}}
long = {"cwd": "/" + "./" * 400000, "env": {"PATH": ":".join(["a"] * 400000)}}
calls = [
    *[("fs.setattr", [1, *changes]) for changes in ([], [None], [7], ["x"])],
    ("spawn", ["any", ["x"], {**long, "cwd": "tmp"}, False]),
    ("spawn", ["host", ["pip", "list"], {**place, "cwd": ""}, False]),
    ("spawn", ["any", ["x"], long, False]),
    ("spawn", ["any", ["x" * 400000], place, False]),
    ("spawn", ["any", ["x/" * 400000], place, False]),
    ("spawn", ["any", ["x"], {**place, "env": long["env"]}, False]),
]
[json.loads(host._call(name, json.dumps(args))).get("error") for name, args in calls]`);
    const attributes = ["EINVAL", "EINVAL", "EINVAL", "EINVAL"];
    const spawns = ["EINVAL", "EINVAL", "ENAMETOOLONG", "ENAMETOOLONG", "ENAMETOOLONG", "ENOENT"];
    expect([cell.error, cell.value]).toEqual([undefined, [...attributes, ...spawns]]);
  });

  it("only the facts of a cell pass: not how it died, nor what is unknown", async () => {
    const kernel = await sandbox.kernel();
    const cell = await kernel.run(
      `${intrinsics}host._call("done", '[{"exitCode":0,"outputs":[],"died":"oom","__proto__":{"x":1}}]')`,
    );
    expect([cell.reason, cell.stateLost, cell.exitCode]).toEqual(["exited", false, 0]);
    await kernel[Symbol.asyncDispose]();
  });
});

describe("a kernel whose background tasks never let go", () => {
  it("is ended by the deadline of the next cell, and the one after that runs", async () => {
    const kernel = await sandbox.kernel();
    await kernel.run("import asyncio\nasync def spin():\n    while True: pass\nkept = asyncio.ensure_future(spin())");
    const stuck = await kernel.run("1 + 1", { timeoutMs: 500 });
    expect([stuck.reason, stuck.stateLost]).toEqual(["timeout", true]);
    expect((await kernel.run("1 + 1", { timeoutMs: 20_000 })).value).toBe(2);
    await kernel[Symbol.asyncDispose]();
  }, 40_000);
});

describe("trees that the guest grows", () => {
  it("deeper than any stack: listing says so, removing works", async () => {
    await sandbox.files.mkdir("/tmp/deep");
    const made = await sandbox.runCode(
      `${intrinsics}
def fs(operation, *args): return json.loads(host._call("fs." + operation, json.dumps(args)))["result"]
ino = fs("walk", "/tmp/deep", True)["info"]["ino"]
for _ in range(20000): ino = fs("mknod", ino, "d", 0o40755)["ino"]
1`,
      { timeoutMs: 60_000 },
    );
    expect([made.value, made.error]).toEqual([1, undefined]);
    await expect(sandbox.files.list("/tmp/deep", { recursive: true })).rejects.toMatchObject({ code: "TOO_LARGE" });
    expect(await sandbox.files.list("/tmp/deep", { recursive: true, maxDepth: 3 })).toHaveLength(3);
    expect(await sandbox.files.remove("/tmp/deep", { recursive: true })).toBe(true);
    expect(await sandbox.files.exists("/tmp/deep")).toBe(false);
  }, 90_000);

  it("targets of links and chunks of sparse files count against the disk", async () => {
    const small = await createSandbox(wasm(), { resources: { diskMiB: 2 } });
    const cell = await small.runCode(
      `
import errno, os
made = []
for make in (lambda i: os.symlink("x" * 4000, f"l{i}"), lambda i: os.pwrite(sparse, b"x", i * 262144)):
    sparse = os.open("sparse", os.O_CREAT | os.O_RDWR)
    i = 0
    try:
        while i < 10000:
            make(i)
            i += 1
    except OSError as error: made.append([i < 7000, errno.errorcode[error.errno]])
    for name in os.listdir("."): os.unlink(name)
made`,
      { timeoutMs: 30_000 },
    );
    expect(cell.value).toEqual([
      [true, "ENOSPC"],
      [true, "ENOSPC"],
    ]);
    await small.destroy();
  }, 40_000);

  it("no name is taken by a directory that is gone", async () => {
    const cell = await sandbox.runCode(`${intrinsics}
def fs(operation, *args): return json.loads(host._call("fs." + operation, json.dumps(args)))
os.makedirs("gone"); open("orphan", "w").close()
here = fs("walk", os.getcwd(), True)["result"]["info"]["ino"]
gone = fs("walk", os.getcwd() + "/gone", True)["result"]["info"]["ino"]
fs("open", gone)
os.rmdir("gone")
[fs("rename", here, "orphan", gone, "orphan"), os.path.exists("orphan")]`);
    expect([cell.value, cell.error]).toEqual([[{ error: "ENOENT" }, true], undefined]);
  });
});

describe("results of every size and kind", () => {
  const results: Readonly<Record<string, readonly [code: string, error: string | undefined]>> = {
    "an exception with a message of 100 MB": ["raise ValueError('x' * 10**8)", "ValueError"],
    "a figure of 100 MB": ["class Big:\n    def _repr_png_(self): return bytes(10**8)\nBig()", undefined],
    "a hundred figures of 1 MB": [
      "class Many:\n    def _repr_png_(self): return bytes(10**6)\nfor _ in range(100): display(Many())",
      undefined,
    ],
    "an exception whose str exits": ["class E(Exception):\n    def __str__(self): raise SystemExit(3)\nraise E", "E"],
    surrogates: ["raise KeyError('\\udc80')", "KeyError"],
    "a path of 100,000 characters": ["open('x' * 100000)", "OSError"],
    "a value of every odd kind": ["[float('nan'), 10**400, b'\\xff', {1: 2}]", undefined],
  };
  for (const [name, [code, error]] of Object.entries(results)) {
    it(`${name}: a result, and the state is kept`, async () => {
      await sandbox.runCode("mark = 7");
      const cell = await sandbox.runCode(code, { timeoutMs: 60_000 });
      expect([cell.reason, cell.error?.name, cell.stateLost]).toEqual(["exited", error, false]);
      expect((await sandbox.runCode("mark")).value).toBe(7);
    }, 90_000);
  }

  it("a repr that never ends is interrupted, and the state is kept", async () => {
    const cell = await sandbox.runCode(
      "mark = 8\nclass Loop:\n    def __repr__(self):\n        while True: pass\nLoop()",
      {
        timeoutMs: 500,
        interruptGraceMs: 5000,
      },
    );
    expect([cell.reason, cell.stateLost]).toEqual(["timeout", false]);
    expect((await sandbox.runCode("mark")).value).toBe(8);
  }, 30_000);

  it("one allocation of half a gigabyte outside the interpreter's memory: its worker ends, the sandbox lives", async () => {
    await sandbox.files.write("kept", "kept");
    for (const bomb of ["to_js([]).constructor.new(30000000).fill(1.5)", "host._call('x', 'a' * 200000000)"]) {
      await sandbox.runCode(`${intrinsics}held = ${bomb}`, { timeoutMs: 30_000 });
      expect(await sandbox.files.readText("kept")).toBe("kept");
    }
    expect((await sandbox.runCode("1 + 1")).value).toBe(2);
  }, 90_000);
});
