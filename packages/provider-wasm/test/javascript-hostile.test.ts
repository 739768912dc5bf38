import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  process.env.SANDKIT_TEST_SECRET = "host-secret";
  sandbox = await createSandbox(wasm({ warmWorkers: 0, memoryMiB: 256, diskMiB: 32 }), {});
  await sandbox.files.write("kept", "kept");
});
afterAll(() => sandbox.destroy());

const run = (code: string, timeoutMs = 20_000) =>
  sandbox.runCode(code, { language: "javascript", timeoutMs, interruptGraceMs: 300 });

/** Whatever the cell did, the sandbox and its files live, and so does the next cell. */
async function survives(): Promise<void> {
  expect(await sandbox.files.readText("kept")).toBe("kept");
  expect((await run("1 + 1")).value).toBe(2);
}

/** Limits of ours, each met by waiting for it: with SANDKIT_TEST_ALL=1 where `npm test` has much else to do. */
const isBrief = process.env.SANDKIT_TEST_ENGINE === "1" && process.env.SANDKIT_TEST_ALL !== "1";

describe.skipIf(isBrief)("bombs for QuickJS", () => {
  const bombs: readonly string[] = [
    "const held = []; for (;;) held.push(new Array(100000).fill(1.5))",
    "let text = 'x'; for (;;) text += text",
    "const buffers = []; for (;;) buffers.push(new ArrayBuffer(10_000_000))",
    "new Array(3e8) + ''",
    "new Array(3e8).fill(0)",
    "'x'.repeat(2 ** 29)",
    "JSON.stringify('\\u0001'.repeat(50_000_000))",
    "console.log('x'.repeat(150_000_000))",
    "const down = () => down(); down()",
    "let nest = []; for (let i = 0; i < 1e6; i++) nest = [nest]; JSON.stringify(nest)",
    "let nest2 = []; for (let i = 0; i < 1e5; i++) nest2 = [nest2]; nest2",
    "let chain = Promise.resolve(); for (;;) chain = chain.then(() => {})",
    "const again = () => Promise.resolve().then(again); await again()",
    "new Proxy({}, { get: function get(t, k, r) { return r[k] } }).x",
    "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(50))",
    "const s = new Set(); for (let i = 0; ; i++) s.add({})",
    "'a'.replace(/a/g, () => { for (;;); })",
    "Array.from({ length: 2 ** 32 - 1 })",
    "[].concat(...Array.from({ length: 1000 }, () => new Array(1e6)))",
    "for (const open of ['(', '[', '{', '!', '`$' + '{', 'a=>', '(?:']) try { eval(open.repeat(1e6)) } catch (e) { if (!/overflow|expect|unexpected|missing|invalid/i.test(e.message)) throw e }",
    "JSON.parse('['.repeat(1e6))",
    "new RegExp('(?:'.repeat(1e6) + ')'.repeat(1e6))",
    "let bound = () => 0; for (let i = 0; i < 1e5; i++) bound = bound.bind(null); bound()",
    "let proxy = {}; for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {}); proxy.x",
    "class Again { constructor() { new Again() } }; new Again()",
    "const twice = () => { try { twice() } finally { twice() } }; twice()",
    "const cycle = []; cycle[0] = cycle; [String(cycle), cycle.flat(Infinity)]",
    "for (;;) setTimeout(() => {})",
    "setInterval(() => { for (;;); }); await new Promise(() => {})",
    "for (;;) queueMicrotask(() => {})",
    "const tick = () => process.nextTick(tick); tick(); await new Promise(() => {})",
    "const more = () => setImmediate(more); more(); await new Promise(() => {})",
    "process.stdout.write(Buffer.alloc(200_000_000))",
    "for (;;) process.stderr.write('x'.repeat(1e6))",
    "Buffer.alloc(150_000_000).toString()",
    "require('fs').writeFileSync('fill', Buffer.alloc(200_000_000))",
    "for (;;) display('x'.repeat(1e6))",
    "crypto.getRandomValues(new Uint8Array(100_000_000))",
    "structuredClone(Array.from({ length: 1e7 }, () => ({})))",
    "while (true) try { await new Promise((_, no) => no(1)) } catch {}",
    "Atomics?.wait?.(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "require('assert').deepEqual(...[0, 1].map(() => { let n = []; for (let i = 0; i < 1e5; i++) n = [n]; return n }))",
    "new Function('x', 'return '.concat('!'.repeat(1e6), 'x'))",
    "({ toString() { return this + '' } }) + ''",
    "for (let i = 0; ; i++) require('fs').writeFileSync('f' + i, 'x'.repeat(1_000_000))",
  ];
  it.each(bombs)(
    "%s ends by itself or is ended",
    async (code) => {
      const cell = await run(code, 1_000);
      expect(cell.ok && cell.value !== undefined && String(cell.value).length > 1e8).toBe(false);
      expect(["exited", "timeout", "oom", "signaled"]).toContain(cell.reason);
      await survives();
      await sandbox.runCode(
        "import os\nfor n in os.listdir('/workspace'):\n    if n.startswith('f'): os.unlink('/workspace/' + n)",
      );
    },
    60_000,
  );

  it("memory: an error that the cell can catch, and the state is kept", async () => {
    await run("var state = 5");
    const cell = await run("const list = []; for (;;) list.push(new Uint8Array(1_000_000))");
    expect([cell.error?.name, cell.error?.message, cell.stateLost]).toEqual(["InternalError", "out of memory", false]);
    expect((await run("list.length = 0; state")).value).toBe(5);
    const caught = await run(
      "var told; try { for (;;) list.push(new Array(1e5)) } catch (e) { list.length = 0; told = e }\ntold",
    );
    expect(caught.outputs[0]?.["text/plain"]).toMatch(/out of memory|null/);
  }, 60_000);

  it("memory taken by what is small: told, and freed by the next cell", async () => {
    const cell = await run("var kept = []; for (;;) kept.push({})");
    expect([cell.error?.message, cell.stateLost]).toEqual(["out of memory", false]);
    await run("kept = 0");
    expect((await run("Array.from({ length: 1e5 }, () => ({})).length")).value).toBe(100_000);
  }, 60_000);

  it("memory: cells that look at what has filled it run, one that wants still more ends the interpreter", async () => {
    const filled = await run("var full = null; for (;;) full = { full }");
    expect([filled.error?.message, filled.stateLost]).toEqual(["out of memory", false]);
    for (let look = 0; look < 3; look++) expect((await run("full !== null")).value).toBe(true);
    const more = await run("for (;;) full = { full }");
    expect([more.reason, more.stateLost]).toEqual(["oom", true]);
    await survives();
  }, 60_000);

  it("recursion: an error that the cell can catch", async () => {
    const cell = await run("let name; const f = () => f(); try { f() } catch (e) { name = String(e) }\nname");
    expect(cell.value).toBe("InternalError: stack overflow");
  });

  it("siblings go on: programs, kernels and files, while one is ended", async () => {
    const sibling = await sandbox.kernel({ language: "javascript" });
    await sibling.run("var steps = 0; var stepping = setInterval(() => { steps += 1 }, 5)");
    const program = sandbox.exec([
      "node",
      "-e",
      "let n = 0; setInterval(() => { if (++n === 100) process.exit(5) }, 10)",
    ]);
    for (const bomb of ["for (;;);", "const h = []; for (;;) h.push(new Array(1e4).fill(1))", "new Array(3e8) + ''"]) {
      const doomed = await sandbox.kernel({ language: "javascript" });
      await doomed.run(bomb, { timeoutMs: 300, interruptGraceMs: 0 });
      await doomed[Symbol.asyncDispose]();
    }
    expect(await program).toMatchObject({ exitCode: 5, reason: "exited" });
    expect((await sibling.run("clearInterval(stepping); steps > 10")).value).toBe(true);
    await sibling[Symbol.asyncDispose]();
    await survives();
  }, 60_000);
});

describe("ways out", () => {
  const routes: readonly string[] = [
    "this.constructor.constructor('return process')().mainModule",
    "(() => {}).constructor('return this')().process.binding",
    "console.log.constructor('return process')().versions.v8",
    "process.binding?.('fs')",
    "process.dlopen?.toString()",
    "process.env.SANDKIT_TEST_SECRET",
    "Object.values(process.env).find((v) => v.includes('secret'))",
    "globalThis.WebAssembly",
    "globalThis.Worker ?? globalThis.WebSocket",
    "(await import('node:worker_threads')).parentPort",
    "(await import('file:///etc/passwd')).default",
    "require('/etc/passwd')",
    "require('fs').readFileSync('/etc/passwd', 'utf8')",
    "require('fs').readFileSync('/proc/self/environ', 'utf8')",
    "require('fs').readdirSync('/proc')",
    "require('module')._load",
    "Reflect.ownKeys(globalThis).includes('std') || undefined",
    "globalThis[Symbol.for('sandkit.import')].require('node:child_process')",
    "new Error().stack.match(/node:|file:|\\.mjs/)?.[0]",
    "(function f() { return f.caller })()?.toString()",
  ];
  it.each(routes)("%s leads nowhere", async (code) => {
    const cell = await run(`let found; try { found = ${code} } catch { found = undefined }\nfound`);
    expect([cell.value, cell.outputs]).toEqual([undefined, []]);
    const text = cell.stdout.text + cell.stderr.text + (cell.error?.traceback ?? "");
    expect(text).not.toMatch(/host-secret|node_modules|root:|worker\.mjs/);
  });
});

describe("the driver's ways out", () => {
  /** Walks all that can be reached from the global scope, and from what the modules and the driver hand out. */
  const walk = `
    const ours = new Set("receive send print printBytes encode decode evaluate compile promiseState promiseResult sleep arm abort headroom pendingSignal takeSignal".split(" "));
    const roots = [globalThis, ...require("module").builtinModules.map((name) => require(name)), module, setTimeout(() => {}), (function () { return arguments })(), new Error("x")];
    const seen = new Set(), open = [...roots], found = [];
    while (open.length > 0) {
      const value = open.pop();
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
      seen.add(value);
      if (typeof value === "function" && ours.has(value.name) && value !== RegExp.prototype.compile && Function.prototype.toString.call(value).includes("[native code]")) found.push(value.name);
      open.push(Object.getPrototypeOf(value));
      for (const key of Reflect.ownKeys(value)) {
        const { value: member, get, set } = Object.getOwnPropertyDescriptor(value, key);
        open.push(member, get, set);
      }
    }
    const result = JSON.stringify([seen.size > 500, found]);`;

  it("cannot be reached from a cell or a program", async () => {
    expect((await run(`${walk}\nresult`)).value).toBe("[true,[]]");
    const program = await sandbox.exec(["node", "-e", `${walk}; console.log(result)`]);
    expect([program.stdout.text, program.stderr.text]).toEqual(["[true,[]]\n", ""]);
  });

  it("are not handed to what the guest puts in the way of the driver", async () => {
    const kernel = await sandbox.kernel({ language: "javascript" });
    const code = `
      var got = "";
      const ours = { __proto__: null };
      for (const name of "receive send print printBytes evaluate promiseState promiseResult arm".split(" ")) ours[name] = true;
      const look = (value) => { if (typeof value === "function" && ours[value.name]) got += value.name + " " };
      for (const prototype of [Array, Map, Set, Promise, String, RegExp, ArrayBuffer, Uint8Array].map((made) => made.prototype)) {
        for (const key of ownKeys(prototype)) {
          const { value, writable } = Object.getOwnPropertyDescriptor(prototype, key);
          if (typeof value !== "function" || !writable || key === "constructor") continue;
          prototype[key] = function (...args) { look(this); for (let i = 0; i < args.length; i++) look(args[i]); return apply(value, this, args) };
        }
      }
      0`;
    await kernel.run(code);
    await kernel.run(
      "console.log('x', [1], new Map([[1, 2]])); require('fs').writeFileSync('t', Buffer.from('x')); [1]",
    );
    await kernel.run("throw new Error('x')");
    expect((await kernel.run("got || 'nothing'")).value).toBe("nothing");
    await kernel[Symbol.asyncDispose]();
  });
});

describe("what the guest tampers with", () => {
  const tampered: readonly string[] = [
    "JSON.stringify = () => { throw new Error('no') }",
    "JSON.parse = () => ({ code: 'evil', hasValue: true })",
    "Promise.prototype.then = () => 0",
    "Promise.prototype.catch = Promise.prototype.finally = undefined",
    "Array.prototype.push = () => { throw 1 }; Array.prototype[Symbol.iterator] = undefined",
    "Object.prototype.then = function (done) { done('evil') }",
    "Object.prototype.error = 1; Object.prototype.value = 2; Object.prototype.result = 3",
    "Object.defineProperty(Object.prototype, 'exitCode', { get() { throw 1 }, set() { throw 2 } })",
    "globalThis.process = globalThis.console = globalThis.Buffer = undefined",
    "Map.prototype.get = Map.prototype.set = Map.prototype.values = () => undefined",
    "String.prototype.split = String.prototype.replace = String.prototype.slice = () => { throw 1 }",
    "Function.prototype.call = Function.prototype.apply = () => { throw 1 }",
    "for (const key of Reflect.ownKeys(globalThis)) try { delete globalThis[key] } catch {}",
    "Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis)",
    "Error.prototype.toString = () => { throw 1 }; Object.defineProperty(Error.prototype, 'name', { get() { for (;;); } })",
  ];
  it.each(tampered)(
    "%s: the next cells are told the truth",
    async (code) => {
      const kernel = await sandbox.kernel({ language: "javascript" });
      await kernel.run("var mark = 6");
      const cells = [];
      for (const [next, value] of [[code], ["1 + 1", 2], ["throw new Error('x')"], ["20 + 1", 21]] as const) {
        const cell = await kernel.run(next, { timeoutMs: 2_000, interruptGraceMs: 300 });
        expect(["exited", "timeout", "oom", "signaled"]).toContain(cell.reason);
        if (value !== undefined && cell.ok) expect([value, undefined]).toContain(cell.value);
        if (next.startsWith("throw")) expect(cell.ok).toBe(false);
        cells.push(cell);
      }
      const lost = cells.some((cell) => cell.stateLost);
      const mark = await kernel.run("typeof mark", { timeoutMs: 2_000, interruptGraceMs: 300 });
      if (lost && !mark.stateLost) expect(mark.value).toBe("undefined");
      await kernel[Symbol.asyncDispose]();
      await survives();
    },
    60_000,
  );

  it("another kernel never sees it", async () => {
    await run("Object.prototype.poison = 1; Array.prototype.map = null");
    const other = await sandbox.kernel({ language: "javascript" });
    expect((await other.run("[({}).poison, typeof [].map]")).value).toEqual([null, "function"]);
    await other[Symbol.asyncDispose]();
  });
});
