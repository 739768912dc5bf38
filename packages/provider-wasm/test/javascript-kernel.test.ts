import util from "node:util";
import vm from "node:vm";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ warmWorkers: 0 }), {});
  await sandbox.files.write("local.mjs", "export const local = 6;\nexport default (n) => n * local;\n");
  await sandbox.files.write("data.json", '{"seven": 7}');
});
afterAll(() => sandbox.destroy());

const run = (code: string, language: "javascript" | "typescript" = "javascript") =>
  sandbox.runCode(code, { language, timeoutMs: 20_000 });
const value = async (code: string, language?: "javascript" | "typescript") => {
  const cell = await run(code, language);
  expect([code, cell.error?.traceback]).toEqual([code, undefined]);
  return cell.value;
};

describe("javascript cells", () => {
  it("keep what they declare, also declared again", async () => {
    await run("const kept = 20; let other = 1; class Point {}; function double(n) { return n * 2; }");
    expect(await value("double(kept) + other")).toBe(41);
    await run("const kept = 3; class Point { x = 1 }");
    expect(await value("kept + new Point().x")).toBe(4);
  });

  it("give the last expression as value and as text, and nothing for a statement", async () => {
    const cell = await run("[1, 2.5, true, null, 'a']");
    expect(cell.value).toEqual([1, 2.5, true, null, "a"]);
    expect(cell.outputs).toEqual([{ "text/plain": "[ 1, 2.5, true, null, 'a' ]" }]);
    for (const code of ["", "// nothing", "var y = 1", "undefined", "for (const n of [1]) n", "5; var z = 1"]) {
      const { exitCode, outputs, value: none } = await run(code);
      expect([code, exitCode, outputs, none]).toEqual([code, 0, [], undefined]);
    }
    expect(await value("{a: 1}")).toEqual({ a: 1 });
    expect(await value("'text'")).toBe("text");
    expect(await value("new Date(0)")).toBe("1970-01-01T00:00:00.000Z");
    expect(await value("new Float64Array([1, 2])")).toEqual([1, 2]);
  });

  it.each([
    "10n",
    "NaN",
    "(() => 0)",
    "Symbol('s')",
    "new Map([[1, 2]])",
    "a = {}; a.a = a",
    "new (class A {})()",
    "({ get a() { throw 1 } })",
    "Array(2e6).fill('x')",
    "'x'.repeat(9e6)",
    "new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } })",
    "({ then(done) { done(5) } })",
  ])("give %s as text alone", async (code) => {
    const cell = await run(code);
    expect([cell.exitCode, cell.value, cell.error]).toEqual([0, undefined, undefined]);
    expect(String(cell.outputs.at(-1)?.["text/plain"]).length).toBeLessThan(1.1e6);
  });

  it.each([
    "new Map([['a', { b: [1] }]])",
    "[new Set(), new Map(), [], {}, new (class Empty {})()]",
    "(() => { class P { x = 1; get y() { return 1 } set z(v) {} } return new P() })()",
    "[() => 0, function f() {}, class A {}, class B extends Map {}, async () => 1, function* g() {}, Math.max]",
    "Object.assign(() => 0, { a: 1 })",
    "[, 1, undefined, null, -0, , ,]",
    "({ 'a-b': 1, [Symbol('s')]: `it's`, $: 2, get g() { return 1 }, set s(v) {}, get b() { return 1 }, set b(v) {} })",
    "[Promise.resolve(5), new Promise(() => {})]",
    "({ a: { b: { c: { d: 1 } }, f: 1n } , u: undefined })",
    "({ a: { b: { c: {}, d: [], e: new Date(0), f: /x/g, g: () => 0, h: [1], i: new Map([[1, 2]]) } } })",
    "[[[[[1]]]], { a: { b: { c: { d: 1 } } } }]",
    "Buffer.from('hi')",
    "Object.assign(Object.create(null), { a: 1 })",
    "Object.create(null)",
    "Object.create({ inherited: 1 })",
    "(() => { const loop = { n: 1, in: { deep: [] } }; loop.in.deep.push(loop, loop.in); return loop })()",
    "[/a+/g, new Date(0), new Date(NaN), Symbol('x'), 10n, -0]",
    "[new Number(3), new String('abc'), new Boolean(false), Object(1n)]",
    "[new Uint8Array(3), new Float64Array([1.5]), new ArrayBuffer(4), new DataView(new ArrayBuffer(2))]",
    "new Uint8Array(200)",
    "Array.from({ length: 101 }, (_, i) => i * 7)",
    "Array.from({ length: 150 }, (_, i) => 'name' + i)",
    "Array.from({ length: 27 }, (_, i) => 'x'.repeat(i))",
    "Array.from({ length: 7 }, (_, i) => ({ i }))",
    "Array.from({ length: 30 }, (_, i) => i % 3 ? 'short' : 'a longer text')",
    "[1.5, 22.25, -3, 1e21, 7, 8, 9, 10, 11, 12]",
    "Array.from({ length: 20 }, (_, i) => [i, 'v' + i])",
    "Object.fromEntries(Array.from({ length: 30 }, (_, i) => ['key' + i, i]))",
    "({ text: 'a line\\n'.repeat(20) })",
    "'a \\' b'",
    "`both ' and \"`",
    "`all ' \" and \\``",
    "'\\x00\\x1b\\x7f\\x9f\\n\\t\\\\ \\ud83d \\u{1F600}'",
    "[new WeakMap(), new WeakSet()]",
    "({ [Symbol.toStringTag]: 'Tagged', a: 1 })",
    "new (class extends Array {})(3)",
    "(() => { class Foo extends Map {} return new Foo([[1, { a: 1 }]]) })()",
    "(function () { return arguments })(1, 2)",
    "new Proxy({ a: 1 }, {})",
    "({ inner: { toString() { return 'x' }, [Symbol.for('nodejs.util.inspect.custom')]: () => 'shown\\nby itself' } })",
    "Object.defineProperty([1], 'extra', { value: 2, enumerable: true })",
    "[undefined, null, true, NaN, Infinity]",
    "({ a: 'x'.repeat(60), b: 'y'.repeat(20) })",
    "({ a: [{ b: { c: 1 } }, { b: { c: 2 } }], d: new Map([[{ k: 1 }, new Set([[1, 2], 'x'])]]) })",
  ])("show as Node does: %s", async (code) => {
    const context = vm.createContext({ Buffer, util });
    expect(await value(`require('util').inspect(${code})`)).toBe(vm.runInContext(`util.inspect(${code})`, context));
  });

  it("await at the top level, and a last promise", async () => {
    expect(await value("const later = await new Promise((go) => setTimeout(go, 20, 5)); later + 1")).toBe(6);
    expect(await value("(async () => 7)()")).toBe(7);
  });

  it("import statically and dynamically, and require, from where they run", async () => {
    const code = [
      'import fs, { existsSync as there } from "node:fs";',
      "import times, {",
      "  local,",
      '} from "./local.mjs";',
      'import * as path from "path";',
      "[typeof fs.statSync, there('local.mjs'), times(2), local, path.basename('/a/b')]",
    ].join("\n");
    expect(await value(code)).toEqual(["function", true, 12, 6, "b"]);
    expect(await value("(await import('./local.mjs')).default(local)")).toBe(36);
    expect(await value("require('./data.json').seven")).toBe(7);
    expect(await value("import.meta.dirname")).toBe("/workspace");
    expect(await value("export const shown = 4;\nshown")).toBe(4);
    expect(await value("[require.main === module, module.filename === __filename]")).toEqual([true, true]);
    expect((await run("import { nothing } from 'fs'")).error?.name).toBe("SyntaxError");
    expect((await run("import x from './none.mjs'")).error?.message).toContain("none.mjs");
    expect((await run("require('http')")).error?.message).toContain("no connections");
  });

  it("tell errors with the frames of the user alone", async () => {
    const cell = await run("function inner() {\n  null.x;\n}\n\ninner();");
    expect([cell.exitCode, cell.error?.name, cell.stateLost]).toEqual([1, "TypeError", false]);
    expect(cell.error?.traceback).toMatch(/^TypeError: .*\n {4}at inner \(cell-\d+:2:\d+\)\n {4}at cell-\d+:5:\d+\n$/);
    const wrong = await run("console.log(1)\nif (true console.log(2)");
    expect([wrong.error?.name, wrong.stdout.text]).toEqual(["SyntaxError", ""]);
    expect(wrong.error?.traceback).toMatch(/^cell-\d+:2\nif \(true console.log\(2\)\n {8,}\^\nSyntaxError: /);
    expect((await run("throw 'text'")).error).toMatchObject({ name: "String", message: "text" });
    expect((await run("await Promise.reject(null)")).error).toMatchObject({ name: "null", message: "null" });
    expect((await run(`import 'fs';${"(".repeat(20_000)}1${")".repeat(20_000)}`)).exitCode).toBe(1);
  });

  it("write to both streams, in order, whatever the text", async () => {
    const cell = await run(
      "console.table([{a: 1}]); process.stdout.write('x'.repeat(300_000)); console.error('err', {a: 1}); console.log('%s is %d', 'a', 5, [1]); console.log('nul\\0 \\ud800 \\u{1F600}')",
    );
    expect(cell.stdout.text).toMatch(
      /\(index\) │ a │\n├─+┼─+┤\n│ 0 +│ 1 │\n└─+┴─+┘\nx{300000}a is 5 \[ 1 \]\nnul\0 \ufffd \u{1F600}\n$/u,
    );
    expect(cell.stderr.text).toBe("err { a: 1 }\n");
  });

  it("end at process.exit, and keep the state", async () => {
    await run("var survives = 1");
    expect((await run("try { process.exit(3) } finally { survives = 2 }")).exitCode).toBe(3);
    expect((await run("setTimeout(() => process.exit(4)); await new Promise(() => {})")).exitCode).toBe(4);
    expect((await run("await 1; process.exit()")).exitCode).toBe(0);
    expect((await run("process.exitCode = 5; 1")).exitCode).toBe(5);
    expect(await value("survives")).toBe(1);
  });

  it("show errors of timers on stderr, and live on", async () => {
    const first = await run("setTimeout(() => { throw new RangeError('stray') }, 1); 1");
    const second = await run("await new Promise((go) => setTimeout(go, 50))");
    expect(first.stderr.text + second.stderr.text).toMatch(/RangeError: stray\n/);
  });

  it("display what they are asked to, in the value's own forms", async () => {
    const { outputs } = await run(
      "display('text'); display({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': '<b>', 'image/png': Buffer.from('p') }) }); 5",
    );
    expect(outputs).toMatchObject([
      { "text/plain": "text" },
      { "text/html": "<b>", "image/png": "cA==" },
      { "text/plain": "5" },
    ]);
  });

  it("let timers run between them", async () => {
    await run("var ticks = 0; var ticking = setInterval(() => { ticks += 1 }, 5)");
    await new Promise((go) => setTimeout(go, 200));
    expect(await value("clearInterval(ticking); ticks > 3")).toBe(true);
  });

  it.each([
    "while (true) {}",
    "await new Promise(() => {})",
    "await 1; while (true) {}",
    "try { while (true) {} } catch {} finally { kept = 0 }",
    "setTimeout(() => { while (true) {} }); await new Promise(() => {})",
    "for (;;) await null",
    "for (;;) await new Promise(setImmediate)",
    "await Promise.all([1, 2].map(async () => { await 1; for (;;); }))",
    "await new Promise((go) => setTimeout(go, 50_000))",
    "/(a+)+$/.exec('a'.repeat(40) + 'b')",
    "for (;;) console.log('flood '.repeat(100))",
  ])("stop at an interrupt with their state kept: %s", async (loop) => {
    await run("var kept = 7");
    const cell = await sandbox.runCode(`console.log('on');\n${loop}`, {
      language: "javascript",
      timeoutMs: 300,
      interruptGraceMs: 5_000,
    });
    expect([cell.reason, cell.stateLost, cell.error?.name]).toEqual(["timeout", false, "InterruptedError"]);
    expect(await value("kept")).toBe(7);
    expect(await value("await new Promise((go) => setTimeout(go, 5, 'timers go on'))")).toBe("timers go on");
  });

  it("that interrupt a callback which never let go run the next one", async () => {
    const kernel = await sandbox.kernel({ language: "javascript" });
    await kernel.run("var kept = 8; setTimeout(() => { for (;;); }, 1)");
    await new Promise((go) => setTimeout(go, 100));
    const stuck = await kernel.run("1", { timeoutMs: 300, interruptGraceMs: 5_000 });
    expect([stuck.reason, stuck.stateLost]).toEqual(["timeout", false]);
    expect((await kernel.run("kept")).value).toBe(8);
    await kernel[Symbol.asyncDispose]();
  });

  it("share files with Python's, live, and kernels live apart", async () => {
    await run("require('fs').writeFileSync('shared.txt', 'from js')");
    expect((await sandbox.runCode("open('shared.txt').read()")).value).toBe("from js");
    await sandbox.runCode("open('back.txt', 'w').write('from py')");
    expect(await value("require('fs').readFileSync('back.txt', 'utf8')")).toBe("from py");
    const other = await sandbox.kernel({ language: "javascript", env: { WHO: "other" }, cwd: "/tmp" });
    expect((await other.run("[typeof survives, process.env.WHO, process.cwd()]")).value).toEqual([
      "undefined",
      "other",
      "/tmp",
    ]);
    await other[Symbol.asyncDispose]();
  });
});

describe("typescript cells", () => {
  it("run without their types, with enums, imports for later cells, and lines in tracebacks", async () => {
    const code =
      'import type { Stats } from "node:fs";\nimport { basename } from "node:path";\nenum Color { Red, Green }\ninterface A { x: number }\nconst a: A = { x: Color.Green };\n(a as A).x satisfies number';
    expect(await value(code, "typescript")).toBe(1);
    expect(await value("basename('/a/b') as string", "typescript")).toBe("b");
    const cell = await run(
      "type T = {\n  a: string;\n};\nconst f = (n: T): never => { throw new Error(n.a); };\nf({ a: 'x' });",
      "typescript",
    );
    expect(cell.error?.traceback).toMatch(/at f \(cell-\d+:4:\d+\)\n {4}at cell-\d+:5:\d+/);
    expect((await run("const x: = 1", "typescript")).error?.name).toBe("SyntaxError");
  });
});
