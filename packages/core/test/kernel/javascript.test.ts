import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunningKernel, type SeenCell } from "./running-kernel.js";

let folder: string;
let kernel: RunningKernel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-javascript-"));
  await writeFile(join(folder, "local.mjs"), "export const local = 6;\nexport default (n) => n * local;\n");
  await writeFile(join(folder, "data.json"), '{"seven": 7}');
  kernel = await RunningKernel.start({ language: "javascript", cwd: folder });
});
afterAll(async () => {
  await kernel[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const value = async (code: string, of = kernel) => {
  const cell = await of.run(code);
  expect(cell.error?.traceback).toBeUndefined();
  return cell.value;
};
const errorOf = ({ exitCode, error, died }: SeenCell) => [exitCode, error?.name, died];

describe("javascript kernel", () => {
  it("keeps what cells declare, also declared again", async () => {
    await kernel.run("const kept = 20; let other = 1; class Point {}; function double(n) { return n * 2; }");
    expect(await value("double(kept) + other")).toBe(41);
    await kernel.run("const kept = 3; class Point { x = 1 }");
    expect(await value("kept + new Point().x")).toBe(4);
  });

  it("gives the last expression as value and as text, and nothing for a statement", async () => {
    const cell = await kernel.run("[1, 2.5, true, null, 'a']");
    expect(cell.value).toEqual([1, 2.5, true, null, "a"]);
    expect(cell.outputs).toEqual([{ "text/plain": "[ 1, 2.5, true, null, 'a' ]" }]);
    for (const code of ["", "// nothing", "var y = 1", "undefined", "for (const n of [1]) n", "5; var z = 1"]) {
      const { exitCode, outputs, value } = await kernel.run(code);
      expect([exitCode, outputs, value]).toEqual([0, [], undefined]);
    }
    expect(await value("{a: 1}")).toEqual({ a: 1 });
    expect(await value("'text'")).toBe("text");
    expect(await value("new Date(0)")).toBe("1970-01-01T00:00:00.000Z");
    expect(await value("new Float64Array([1, 2])")).toEqual([1, 2]);
  });

  it("gives what JSON cannot hold as text alone, however large or odd", async () => {
    const odd = [
      "10n",
      "NaN",
      "(() => 0)",
      "Symbol('s')",
      "new Map([[1, 2]])",
      "a = {}; a.a = a",
      "new (class A {})()",
    ];
    for (const code of [...odd, "({ get a() { throw 1 } })", "Array(2e6).fill('x')", "'x'.repeat(9e6)"]) {
      const { exitCode, value, outputs } = await kernel.run(code);
      expect([code, exitCode, value]).toEqual([code, 0, undefined]);
      expect(String(outputs.at(-1)?.["text/plain"]).length).toBeLessThan(1.1e6);
    }
    expect((await kernel.run("new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } })")).exitCode).toBe(0);
  });

  it("awaits at the top level, and a last promise", async () => {
    expect(await value("const later = await new Promise((go) => setTimeout(go, 20, 5)); later + 1")).toBe(6);
    expect(await value("(async () => 7)()")).toBe(7);
  });

  it("imports statically and dynamically, and requires, from where it runs", async () => {
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
    expect(await value("import.meta.dirname")).toBe(folder);
    expect(await value("export const shown = 4;\nshown")).toBe(4);
  });

  it("tells errors with the frames of the user alone", async () => {
    const cell = await kernel.run("function inner() {\n  null.x;\n}\n\ninner();");
    expect(errorOf(cell)).toEqual([1, "TypeError", undefined]);
    expect(cell.error?.traceback).toMatch(/^TypeError: .*\n {4}at inner \(cell-\d+:2:8\)\n {4}at cell-\d+:5:1\n$/);
    const wrong = await kernel.run("console.log(1)\nif (true console.log(2)");
    expect([errorOf(wrong), wrong.stdout]).toEqual([[1, "SyntaxError", undefined], ""]);
    expect(wrong.error?.traceback).toMatch(/^cell-\d+:2\nif \(true console.log\(2\)\n {9}\^+\nSyntaxError: /);
    expect((await kernel.run("throw 'text'")).error).toMatchObject({ name: "String", message: "text" });
    const missing = await kernel.run("import x from './none.mjs'");
    expect(missing.error?.message).toContain("none.mjs");
    expect(missing.error?.traceback).not.toContain("node:");
  });

  it("has what a cell and its children write before its end", async () => {
    const code =
      "console.table([{a: 1}]); process.stdout.write('x'.repeat(300_000)); console.error('err'); require('child_process').execSync('echo child', {stdio: 'inherit'}); require('child_process').execSync('echo captured').toString()";
    const cell = await kernel.run(code);
    expect(cell.value).toBe("captured\n");
    expect(cell.stdout).toContain("(index)");
    expect(cell.stdout.length).toBeGreaterThan(300_000);
    expect(cell.stdout).toContain("child\n");
    expect(cell.stderr).toBe("err\n");
  });

  it("ends a cell at process.exit, and keeps the state", async () => {
    await kernel.run("survives = 1");
    expect(errorOf(await kernel.run("process.exit(3)"))).toEqual([3, undefined, undefined]);
    expect(errorOf(await kernel.run("setTimeout(() => process.exit(4)); await new Promise(() => {})"))).toEqual([
      4,
      undefined,
      undefined,
    ]);
    expect(errorOf(await kernel.run("await 1; process.exit()"))).toEqual([0, undefined, undefined]);
    expect(await value("survives")).toBe(1);
  });

  it("shows stray errors on stderr, and lives on", async () => {
    const first = await kernel.run(
      "Promise.reject(new Error('nobody')); setTimeout(() => { throw new RangeError('stray') }, 1)",
    );
    const second = await kernel.run("await new Promise((go) => setTimeout(go, 50))");
    expect(first.stderr + second.stderr).toMatch(/Error: nobody\n[\s\S]*RangeError: stray\n/);
    expect(await value("survives")).toBe(1);
  });

  it("displays what it is asked to, in the value's own forms", async () => {
    const { outputs } = await kernel.run(
      "display('text'); display({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': '<b>' }) }); 5",
    );
    expect(outputs).toMatchObject([{ "text/plain": "text" }, { "text/html": "<b>" }, { "text/plain": "5" }]);
  });

  it("stops at an interrupt and keeps the state", async () => {
    await kernel.run("kept2 = 7");
    const loops = [
      "while (true) {}",
      "await new Promise(() => {})",
      "await 1; while (true) {}",
      "try { while (true) {} } catch {} finally { kept2 = 7 }",
      "setTimeout(() => { while (true) {} }); await new Promise(() => {})",
      "for (;;) await null",
      "for (;;) await new Promise(setImmediate)",
      "require('child_process').execSync('sleep 0.3'); while (true) {}",
    ];
    for (const loop of loops) {
      const cell = await kernel.interrupted(`console.log('on');\n${loop}`);
      expect([loop, ...errorOf(cell)]).toEqual([loop, 1, "InterruptedError", undefined]);
      expect(await value("kept2")).toBe(7);
      expect(await value("await new Promise((go) => setTimeout(go, 5, 'timers go on'))")).toBe("timers go on");
    }
  });

  it("tells a death", async () => {
    const doomed = await RunningKernel.start({ language: "javascript", cwd: folder });
    const cell = await doomed.run("console.log('last words'); process.kill(process.pid, 'SIGKILL'); while (true) {}");
    expect([cell.exitCode, cell.died, cell.stdout]).toEqual([null, "crashed", "last words\n"]);
    await doomed[Symbol.asyncDispose]();
  });

  it("is hurt alone by what its cells forge", async () => {
    const forger = await RunningKernel.start({ language: "javascript", cwd: folder });
    const cell = await forger.run(
      'require(\'fs\').writeSync(4, \'{"id":99,"done":{"exitCode":0}}\\n\'); while(true){}',
    );
    expect(cell.died).toBe("crashed");
    await forger[Symbol.asyncDispose]();
  });
});

describe("typescript kernel", () => {
  it("runs types away, with enums, and keeps imports for later cells and lines in tracebacks", async () => {
    const typed = await RunningKernel.start({ language: "typescript", cwd: folder });
    const code =
      'import type { Stats } from "node:fs";\nimport { basename } from "node:path";\nenum Color { Red, Green }\ninterface A { x: number }\nconst a: A = { x: Color.Green };\n(a as A).x satisfies number';
    expect(await value(code, typed)).toBe(1);
    expect(await value("basename('/a/b') as string", typed)).toBe("b");
    const cell = await typed.run(
      "type T = {\n  a: string;\n};\nconst f = (n: T): never => { throw new Error(n.a); };\nf({ a: 'x' });",
    );
    expect(cell.error?.traceback).toMatch(/at f \(cell-\d+:4:\d+\)\n {4}at cell-\d+:5:1/);
    expect((await typed.run("const x: = 1")).error?.name).toBe("SyntaxError");
    await typed[Symbol.asyncDispose]();
  });
});
