import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunningKernel } from "./running-kernel.js";

describe("javascript kernel, at its edges", () => {
  let kernel: RunningKernel;
  beforeAll(async () => {
    kernel = await RunningKernel.start({ language: "javascript" });
  });
  afterAll(() => kernel[Symbol.asyncDispose]());

  it("gives the value of the last expression, and none for other statements", async () => {
    expect(await kernel.run("const x = 6; x * 7")).toMatchObject({
      exitCode: 0,
      value: 42,
      outputs: [{ "text/plain": "42" }],
    });
    expect(await kernel.run("for (const n of [1]) n")).toEqual({ exitCode: 0, outputs: [], stdout: "", stderr: "" });
    expect(await kernel.run("const x = 'again'; ({ x, list: [1, null] })")).toMatchObject({
      value: { x: "again", list: [1, null] },
    });
    expect(await kernel.run("Promise.resolve([await 1])")).toMatchObject({ value: [1] });
  });
  it.each([
    "10n",
    "new Map([[1, 2]])",
    "() => 1",
    "NaN",
    "Symbol('s')",
    "const a = {}; a.a = a; a",
    "new (class Point { x = 1 })()",
  ])("shows %s as text alone", async (code) => {
    const cell = await kernel.run(code);
    expect(cell).toMatchObject({ exitCode: 0, outputs: [{ "text/plain": expect.any(String) }] });
    expect("value" in cell).toBe(false);
  });
  it("leaves alone what is no promise but has a then, and what throws at every touch", async () => {
    expect(await kernel.run("({ then(done) { done(5) }, [Symbol.toStringTag]: 'Query' })")).toMatchObject({
      exitCode: 0,
    });
    const proxy = "new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } })";
    expect(await kernel.run(proxy)).toMatchObject({ exitCode: 0 });
    expect(await kernel.run(`throw ${proxy}`)).toMatchObject({ exitCode: 1, error: { message: expect.any(String) } });
  });
  it("is the main module, in a scope that has nothing of the driver", async () => {
    const code =
      "[require.main === module, module.filename === __filename, typeof load, typeof sources, typeof chunks]";
    expect(await kernel.run(code)).toMatchObject({ value: [true, true, "undefined", "undefined", "undefined"] });
  });
  it.each([
    "const held = globalThis.setImmediate; globalThis.setImmediate = globalThis.setTimeout = () => 0",
    "Promise.prototype.catch = Promise.prototype.finally = undefined",
    "require('node:fs').closeSync(3)",
    "require('node:fs').closeSync(4)",
    "JSON.stringify = () => { throw new Error('no') }",
  ])("takes the next cell, with its state or told that it is lost, after %s", async (code) => {
    await using tampered = await RunningKernel.start({ language: "javascript" });
    const first = await tampered.run(code);
    const next = first.died ? first : await tampered.run("1 + 1");
    expect(next.died ?? next.value).toBe(code.includes(".prototype") || code.includes("setTimeout") ? 2 : "crashed");
  });

  it("cuts text that is too long", async () => {
    const { outputs } = await kernel.run("'x'.repeat(20_000_000)");
    expect(String(outputs[0]?.["text/plain"]).length).toBeLessThan(1_000_200);
  });
  it("imports from the working directory in every way", async () => {
    expect(
      await kernel.run(
        "import fs, { readFileSync as read } from 'node:fs'\nimport * as path from 'path'\nimport 'os';\n[fs.readFileSync === read, path.sep, typeof (await import('node:url')).URL, typeof require('os').cpus, import.meta.dirname === process.cwd()]",
      ),
    ).toMatchObject({
      value: [true, "/", "function", "function", true],
    });
    expect(await kernel.run("import { nothing } from 'fs'")).toMatchObject({
      exitCode: 1,
      error: { name: "SyntaxError" },
    });
  });
  it("tells errors with the frames of the user", async () => {
    const { error } = await kernel.run("\nfunction inner() {\n  throw new TypeError('wrong')\n}\ninner()");
    expect(error).toMatchObject({ name: "TypeError", message: "wrong" });
    expect(error?.traceback).toMatch(/^TypeError: wrong\n {4}at inner \(cell-\d+:3:9\)\n {4}at cell-\d+:5:1\n$/);
    expect((await kernel.run("1\nlet y = ;")).error).toMatchObject({
      name: "SyntaxError",
      traceback: expect.stringMatching(/^cell-\d+:2\nlet y = ;\n {8}\^\nSyntaxError: /),
    });
    expect((await kernel.run("throw 'text'")).error).toMatchObject({ name: "String", message: "text" });
    expect((await kernel.run("await Promise.reject(null)")).error).toMatchObject({ name: "null", message: "null" });
  });
  it("prints in order with the programs it starts", async () => {
    expect(
      await kernel.run(
        "console.log(1); require('child_process').execSync('echo 2; (echo >&4) 2>/dev/null || echo closed >&2', {stdio: 'inherit'}); console.log(3); console.error('x'.repeat(200_000))",
      ),
    ).toMatchObject({
      stdout: "1\n2\n3\n",
      stderr: expect.stringMatching(/^closed\nx+\n$/),
    });
  });
  it("displays", async () => {
    expect(
      await kernel.run(
        "display([1]); display({'text/html': '<b>', 'image/png': Buffer.from('p')}, {raw: true}); 'last'",
      ),
    ).toMatchObject({
      outputs: [{ "text/plain": "[ 1 ]" }, { "text/html": "<b>", "image/png": "cA==" }, { "text/plain": "last" }],
    });
  });
  it("leaves out forms that are no JSON", async () => {
    const code = "({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': 1n }) })";
    expect((await kernel.run(code)).outputs).toEqual([{ "text/plain": expect.any(String) }]);
  });
  it("takes code that is nested deeper than a parser can go", async () => {
    expect(await kernel.run(`import 'fs';${"(".repeat(20_000)}1${")".repeat(20_000)}`)).toMatchObject({ exitCode: 1 });
  });
  it("keeps the state when a cell exits", async () => {
    expect(await kernel.run("var kept = 1; try { process.exit(3) } finally { kept = 2 }")).toMatchObject({
      exitCode: 3,
    });
    expect(await kernel.run("await new Promise((r) => setTimeout(r, 5)); process.exit(4)")).toMatchObject({
      exitCode: 4,
    });
    expect(await kernel.run("process.exitCode = 5; kept")).toMatchObject({ exitCode: 5, value: 1 });
    expect(await kernel.run("kept")).toMatchObject({ exitCode: 0, value: 1 });
  });
  it("survives what is thrown between cells", async () => {
    await kernel.run("setTimeout(() => { throw new Error('late') }, 300); Promise.reject(new Error('unhandled')); 1");
    const { stderr, value } = await kernel.run("await new Promise((r) => setTimeout(r, 600)); 7");
    expect([stderr.includes("late"), value]).toEqual([true, 7]);
  });
  it.each([
    "console.log(1); while (true) {}",
    "console.log(1); await 1; while (true) {}",
    "setTimeout(() => { console.log(1); while (true) {} }, 1); await new Promise(() => undefined)",
    "console.log(1); await new Promise((r) => setTimeout(r, 50_000))",
    "console.log(1); require('child_process').execSync('sleep 50')",
    "console.log(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
  ])("interrupts %s", async (code) => {
    await kernel.run("var state = 6");
    expect(await kernel.interrupted(code)).toMatchObject({ exitCode: 1, error: { name: "InterruptedError" } });
    expect(await kernel.run("await new Promise((r) => setTimeout(r, 30)); state")).toMatchObject({ value: 6 });
  });
  it("outlives the collection of what an interrupted cell waited for", async () => {
    await kernel.interrupted("console.log(1); await new Promise(() => undefined)");
    const collect =
      "require('v8').setFlagsFromString('--expose-gc'); require('vm').runInNewContext('gc')(); 'collected'";
    expect(await kernel.run(collect)).toMatchObject({ value: "collected" });
    expect(await kernel.run("await 1; 'alive'")).toMatchObject({ value: "alive" });
  });
  it("dies", async () => {
    expect(
      await kernel.run("console.log('last'); process.kill(process.pid, 'SIGKILL'); while (true) {}"),
    ).toMatchObject({ exitCode: null, died: "crashed", stdout: "last\n" });
  });
});
