/**
 * Runs cells of JavaScript, one after another, in one realm that keeps its state. Descriptor 3 brings lines from the
 * host, which a thread of its own reads; kernel-message.ts describes what goes out on descriptor 4.
 */
import { writeSync } from "node:fs";
import { Session } from "node:inspector";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { describeError, tracebackOf } from "./failures.mjs";
import { bundleOf, jsonOf, textOf } from "./forms.mjs";

const results = 4;
const { stdout, stderr } = process;
const session = new Session();
session.connect();
const watcher = new Worker(process.argv[1], { eval: true, execArgv: [], argv: [], stdout: false, stderr: false });
/** The cell that runs: `{ id, code, name, hasValue }`. */
let cell = null;
let count = 0;

/** Thrown by `process.exit`. */
class Exit {
  constructor(code) {
    this.code = code;
  }
}

function say(line) {
  const bytes = Buffer.from(`${line}\n`);
  for (let start = 0; start < bytes.length; ) {
    try {
      start += writeSync(results, bytes, start);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Tells the end of a cell once all that it has written is out of this process. */
function finish(ended, done, valueJson) {
  if (cell !== ended || ended.over) return;
  ended.over = true;
  watcher.postMessage(ended.id);
  session.post("Runtime.releaseObjectGroup", { objectGroup: "cell" });
  session.post("Runtime.discardConsoleEntries");
  const value = valueJson === undefined ? "" : `,"value":${valueJson}`;
  const line = `{"id":${ended.id},"done":${JSON.stringify(done).slice(0, -1)}${value}}}`;
  let waiting = 1;
  const flushed = () => {
    waiting -= 1;
    if (waiting > 0) return;
    cell = null;
    say(line);
  };
  for (const stream of [stdout, stderr]) {
    if (stream.writableLength === 0) continue;
    waiting += 1;
    stream.write("", flushed);
  }
  flushed();
}

function exitCell(ended, code) {
  const exitCode = Number(code ?? process.exitCode ?? 0) & 255;
  process.exitCode = undefined;
  finish(ended, { exitCode });
}

/** Called through the inspector, which alone has the values of cells. */
const settle = {
  value(ended, value) {
    if (cell !== ended) return;
    if (value === undefined || !ended.hasValue) return finish(ended, { exitCode: 0 });
    show(ended, value);
    finish(ended, { exitCode: 0 }, jsonOf(value));
  },
  error(ended, error, details) {
    if (error instanceof Exit) return exitCell(ended, error.code);
    finish(ended, { exitCode: 1, error: describeError(error, details, ended) });
  },
};

function show(shown, value) {
  let json;
  try {
    json = JSON.stringify(bundleOf(value));
  } catch (error) {
    json = JSON.stringify({ "text/plain": `[it cannot be shown: ${error?.message}]` });
  }
  say(`{"id":${shown.id},"display":${json}}`);
}

/** Shows a value among the outputs of the cell; between cells it is text on stdout. */
function display(value) {
  if (cell && !cell.over) show(cell, value);
  else stdout.write(`${textOf(value)}\n`);
}

function run({ id, code, hasValue }) {
  count += 1;
  const started = { id, code, hasValue, name: `cell-${count}`, over: false };
  cell = started;
  const expression = `${code}\n//# sourceURL=${started.name}`;
  const options = { replMode: true, awaitPromise: true, objectGroup: "cell", userGesture: false };
  session.post("Runtime.evaluate", { expression, ...options }, (problem, answer) => {
    evaluated(started, problem, answer);
  });
}

/** A promise that is the value of a cell is waited for, as if the cell had said `await`. */
function evaluated(started, problem, answer) {
  if (cell !== started) return;
  if (problem) return interrupted(started);
  const { result, exceptionDetails } = answer;
  if (exceptionDetails || result.subtype !== "promise" || !started.hasValue) return hand(started, answer);
  session.post("Runtime.awaitPromise", { promiseObjectId: result.objectId }, (failure, settled) => {
    evaluated(started, failure, settled);
  });
}

/** Hands what the inspector has to `settle`. */
function hand(ended, { result, exceptionDetails: details }) {
  const remote = details ? (details.exception ?? { value: details.text }) : result;
  const { objectId, unserializableValue, value } = remote;
  const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value };
  pending = details ? (error) => settle.error(ended, error, details) : (given) => settle.value(ended, given);
  const call = { objectId: hook, functionDeclaration: "function (value) { this.take(value); }", arguments: [argument] };
  session.post("Runtime.callFunctionOn", call, (problem) => {
    if (problem) finish(ended, { exitCode: 1, error: plainError("Error", problem.message ?? "the value is lost") });
  });
}

function interrupted(ended) {
  finish(ended, { exitCode: 1, error: plainError("InterruptedError", "the cell was interrupted") });
}

function plainError(name, message) {
  return { name, message, traceback: `${name}: ${message}\n` };
}

/** An error outside of what a cell awaits. */
function stray(error) {
  if (!(error instanceof Exit)) stderr.write(`Uncaught ${tracebackOf(error)}`);
  else if (cell) exitCell(cell, error.code);
}

/** `import` and `import.meta` of cells, which javascript-source.ts has them find here. */
function importModule(specifier, options) {
  const name = String(specifier);
  const isPath = /^\.{0,2}\//.test(name);
  const target = isPath ? pathToFileURL(resolve(name)).href : name;
  return options === undefined ? import(target) : import(target, options);
}
Object.defineProperty(importModule, "meta", {
  get: () => ({ url: pathToFileURL(resolve("cell")).href, filename: resolve("cell"), dirname: process.cwd() }),
});

let pending = () => undefined;
let hook;
const hidden = { configurable: true, enumerable: false, writable: true };
Object.defineProperty(globalThis, Symbol.for("sandkit.import"), { ...hidden, value: importModule });
Object.defineProperty(globalThis, "require", { ...hidden, value: createRequire(resolve("cell")) });
Object.defineProperty(globalThis, "module", { ...hidden, value: { exports: {} } });
Object.defineProperty(globalThis, "exports", { ...hidden, value: globalThis.module.exports });
Object.defineProperty(globalThis, "display", { ...hidden, value: display });
process.exit = (code) => {
  throw new Exit(code);
};
// Programs that a cell starts with `fork` are not to get this one.
process.argv.length = 1;
process.execArgv.length = 0;
process.on("uncaughtException", stray);
process.on("unhandledRejection", stray);

globalThis.__sandkit = { take: (value) => pending(value) };
session.post("Runtime.evaluate", { expression: "__sandkit" }, (problem, answer) => {
  if (problem) throw problem;
  hook = answer.result.objectId;
});
delete globalThis.__sandkit;

watcher.on("message", (message) => {
  if (message.ready) say('{"ready":true}');
  else if (message.interrupt === undefined) run(message);
  else {
    watcher.postMessage(message.interrupt);
    if (cell?.id === message.interrupt) interrupted(cell);
  }
});
