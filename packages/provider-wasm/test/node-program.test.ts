import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ warmWorkers: 0 }), {});
});
afterAll(() => sandbox.destroy());

/** What a program did, in few words. */
async function run(args: readonly string[], options: Parameters<Sandbox["exec"]>[1] = {}) {
  const { exitCode, signal, reason, stdout, stderr } = await sandbox.exec(["node", ...args], options);
  return { exitCode, signal, reason, stdout: stdout.text, stderr: stderr.text };
}

describe("node as a program", () => {
  it("runs a file relative to cwd with its arguments", async () => {
    await sandbox.files.write("app/helper.js", "exports.name = 'helper';");
    await sandbox.files.write(
      "app/main.js",
      "const { name } = require('./helper');\nconsole.log(name, process.argv, __filename, require.main === module, this === module.exports);",
    );
    expect(await run(["app/main.js", "a b", "--flag"])).toMatchObject({
      exitCode: 0,
      stdout:
        "helper [ '/usr/bin/node', '/workspace/app/main.js', 'a b', '--flag' ] /workspace/app/main.js true true\n",
      stderr: "",
    });
    expect((await run(["main.js"], { cwd: "/workspace/app" })).stdout).toContain("/workspace/app/main.js");
    expect(await run(["none.js"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Cannot find module"),
    });
    for (const [code, reason] of [
      ["require('crypto')", "by the global crypto"],
      ["require('node:crypto')", "by the global crypto"],
      ["require('zlib')", "only a part of Node"],
      ["require('lodash')", "no packages here but those in node_modules"],
    ] as const) {
      expect((await run(["-e", code])).stderr, code).toContain(reason);
    }
    await sandbox.files.write("typed.ts", "const n: number = 1;");
    expect((await run(["typed.ts"])).stderr).toContain("as a cell of TypeScript");
  });

  it("runs -e, -p, standard input and --version", async () => {
    expect((await run(["-e", "console.log(process.argv.slice(1))", "x"])).stdout).toBe("[ 'x' ]\n");
    expect((await run(["-p", "[1, 2].map((n) => n * 2)"])).stdout).toBe("[ 2, 4 ]\n");
    expect((await run(["-"], { stdin: "console.log('from stdin')" })).stdout).toBe("from stdin\n");
    expect((await run([], { stdin: "console.log(6 * 7)" })).stdout).toBe("42\n");
    expect((await run(["--version"])).stdout).toMatch(/^v\d+\.\d+\.\d+\n$/);
    expect((await run(["-e", "import fs from 'fs'; console.log(await 5, typeof fs.statSync)"])).stdout).toBe(
      "5 function\n",
    );
    expect((await run(["--inspect", "x.js"])).exitCode).toBe(9);
  });

  it("runs ES modules, with import.meta and packages of the sandbox", async () => {
    await sandbox.files.write("esm/package.json", '{"type": "module"}');
    await sandbox.files.write("esm/lib.js", "export let count = 1; export const bump = () => { count += 1; };");
    await sandbox.files.write("esm/old.cjs", "module.exports = { seven: 7 };");
    await sandbox.files.write("esm/node_modules/pkg/package.json", '{"exports": {".": {"import": "./m.mjs"}}}');
    await sandbox.files.write("esm/node_modules/pkg/m.mjs", "export default 'pkg';");
    await sandbox.files.write(
      "esm/main.js",
      "import { count, bump } from './lib.js'; import old, { seven } from './old.cjs'; import pkg from 'pkg';\nbump(); console.log(count, old.seven === seven, pkg, import.meta.url, import.meta.filename, await Promise.resolve(3));",
    );
    expect(await run(["esm/main.js"])).toMatchObject({
      stdout: "2 true pkg file:///workspace/esm/main.js /workspace/esm/main.js 3\n",
      stderr: "",
    });
    await sandbox.files.write("guess.js", "import { sep } from 'node:path'; console.log(sep);");
    expect((await run(["guess.js"])).stdout).toBe("/\n");
  });

  it("ends with its code, also by an error that nobody catches", async () => {
    expect(await run(["-e", "process.exit(3)"])).toMatchObject({ exitCode: 3, reason: "exited" });
    expect(await run(["-e", "process.exitCode = 4"])).toMatchObject({ exitCode: 4 });
    expect(
      await run(["-e", "process.on('exit', (c) => console.log('bye', c)); setTimeout(() => {}, 20)"]),
    ).toMatchObject({
      exitCode: 0,
      stdout: "bye 0\n",
    });
    await sandbox.files.write("fails.js", "function f() {\n  throw new TypeError('wrong');\n}\nf();\n");
    const failed = await run(["fails.js"]);
    expect(failed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(failed.stderr).toMatch(
      /TypeError: wrong\n {4}at f \(\/workspace\/fails\.js:2:\d+\)\n {4}at (?:\S+ \()?\/workspace\/fails\.js:4:\d+\)?\n/,
    );
    expect(await run(["-e", "setTimeout(() => { throw new Error('late') })"])).toMatchObject({ exitCode: 1 });
    await sandbox.files.write("broken.mjs", "await 1; throw new Error('in a module');");
    expect(await run(["broken.mjs"])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("in a module") });
    expect(await run(["-e", "(async () => { throw new Error('dropped') })()"])).toMatchObject({ exitCode: 1 });
    const main = await sandbox.files.write(
      "main-async.js",
      "async function main() { throw new Error('dropped'); }\nmain();\n",
    );
    expect(main).toBeUndefined();
    expect(await run(["main-async.js"])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("dropped") });
  });

  it("runs every last statement as it stands", async () => {
    await sandbox.files.write(
      "last-a.js",
      "function f(n) { console.log(n); return Promise.resolve() }\nconst x =\nf(1);\n",
    );
    await sandbox.files.write(
      "last-b.js",
      "if (process.argv.length > 5)\nconsole.log('no');\nelse\nconsole.log('yes');\n",
    );
    await sandbox.files.write("last-c.mjs", "const f = async () => { console.log(3) };\nconst x =\nf();\n");
    const programs = await Promise.all(["last-a.js", "last-b.js", "last-c.mjs"].map((name) => run([name])));
    expect(programs.map(({ stdout, stderr }) => stdout + stderr)).toEqual(["1\n", "yes\n", "3\n"]);
  });

  it("reads standard input in every way", async () => {
    const stdin = "one\ntwo ü\n";
    expect((await run(["-e", "console.log(require('fs').readFileSync(0, 'utf8').length)"], { stdin })).stdout).toBe(
      "10\n",
    );
    const events =
      "let all = ''; process.stdin.setEncoding('utf8'); process.stdin.on('data', (d) => { all += d }); process.stdin.on('end', () => console.log(all.length))";
    expect((await run(["-e", events], { stdin })).stdout).toBe("10\n");
    const lines =
      "const rl = require('readline').createInterface({ input: process.stdin }); rl.on('line', (l) => console.log('[' + l + ']'))";
    expect((await run(["-e", lines], { stdin })).stdout).toBe("[one]\n[two ü]\n");
    await sandbox.files.write(
      "each.mjs",
      "let n = 0; for await (const chunk of process.stdin) n += chunk.length; console.log(n);",
    );
    expect((await run(["each.mjs"], { stdin })).stdout).toBe("11\n");
  });

  it("has the files of the sandbox", async () => {
    await sandbox.files.write(
      "files.js",
      `const fs = require('fs'); const path = require('path');
fs.mkdirSync('d/e', { recursive: true });
fs.writeFileSync('d/a.txt', 'text'); fs.appendFileSync('d/a.txt', ' more');
fs.writeFileSync('d/b.bin', Buffer.from([0, 255, 1]));
fs.symlinkSync('a.txt', 'd/link'); fs.renameSync('d/b.bin', 'd/c.bin'); fs.copyFileSync('d/a.txt', 'd/e/copy');
console.log(fs.readFileSync('d/link', 'utf8'), fs.readFileSync('d/c.bin'), fs.readdirSync('d'), fs.statSync('d').isDirectory(), fs.lstatSync('d/link').isSymbolicLink(), fs.realpathSync('d/link'));
console.log(fs.existsSync('none'), fs.readdirSync('d', { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).map((e) => path.join(e.parentPath, e.name)));
try { fs.readFileSync('none') } catch (e) { console.log(e.code, e.errno, e.message) }
try { fs.mkdirSync('d') } catch (e) { console.log(e.code) }
const fd = fs.openSync('d/big', 'w+'); fs.writeSync(fd, 'x'.repeat(700_000)); fs.writeSync(fd, 'y', 5); const b = Buffer.alloc(3); fs.readSync(fd, b, 0, 3, 4); fs.closeSync(fd);
console.log(b.toString(), fs.statSync('d/big').size);
fs.readFile('d/a.txt', 'utf8', (error, text) => { console.log(error, text); fs.promises.readFile('d/a.txt', 'utf8').then((t) => { fs.rmSync('d', { recursive: true }); console.log(t, fs.existsSync('d')); }); });`,
    );
    expect(await run(["files.js"])).toMatchObject({
      stderr: "",
      stdout: `text more <Buffer 00 ff 01> [ 'a.txt', 'c.bin', 'e', 'link' ] true true /workspace/d/a.txt
false [ '/workspace/d/a.txt', '/workspace/d/c.bin', '/workspace/d/e/copy' ]
ENOENT -2 ENOENT: no such file or directory, open '/workspace/none'
EEXIST
xyx 700000
null text more
text more false
`,
    });
  });

  it("has what scripts commonly use", async () => {
    const code = `
const assert = require('assert'); const util = require('util'); const { EventEmitter } = require('events');
assert.deepStrictEqual(structuredClone({ a: [1, new Date(0)] }), { a: [1, new Date(0)] });
assert.throws(() => assert.strictEqual(1, 2), /strictly equal/);
const e = new EventEmitter(); e.once('x', (v) => console.log('got', v)); e.emit('x', 1); e.emit('x', 2);
console.log(util.format('%s %j', 'a', { b: 1 }), util.inspect({ a: 1 }), Buffer.from('aGk=', 'base64').toString(), btoa('hi'), require('path').relative('/a/b', '/a/c'));
console.log(typeof performance.now(), crypto.randomUUID().length, new TextDecoder().decode(new TextEncoder().encode('ü')), process.platform, require('os').EOL === '\\n');
process.nextTick(() => console.log('tick')); setImmediate(() => console.log('immediate')); Promise.resolve().then(() => console.log('promise'));`;
    expect(await run(["-e", code])).toMatchObject({
      stderr: "",
      stdout: 'got 1\na {"b":1} { a: 1 } hi aGk= ../c\nnumber 36 ü linux true\ntick\npromise\nimmediate\n',
    });
  });

  it("takes the environment and signals, and says what is not there", async () => {
    expect((await run(["-p", "process.env.WHO"], { env: { WHO: "me" } })).stdout).toBe("me\n");
    expect((await run(["-e", "require('child_process')"])).stderr).toContain("no processes");
    const asleep = await sandbox.spawn(["node", "-e", "console.log('up'); setTimeout(() => {}, 60_000)"]);
    for await (const _ of asleep.stdout) break;
    await asleep.kill("SIGTERM");
    expect(await asleep.wait()).toMatchObject({ exitCode: null, signal: "SIGTERM" });
    const handles = await sandbox.spawn([
      "node",
      "-e",
      "process.on('SIGTERM', () => { console.log('handled'); process.exit(7) }); console.log('up'); setInterval(() => {}, 1000)",
    ]);
    for await (const _ of handles.stdout) break;
    await handles.kill("SIGTERM");
    expect((await handles.wait()).exitCode).toBe(7);
  });

  it("is ended by a timeout, however busy", async () => {
    expect(await run(["-e", "console.log(1); for (;;);"], { timeoutMs: 500 })).toMatchObject({
      reason: "timeout",
      stdout: "1\n",
    });
    expect(await run(["-e", "for (;;) console.log('x'.repeat(1000))"], { timeoutMs: 500 })).toMatchObject({
      reason: "timeout",
    });
  });
});
