const { setImmediate } = require("node:timers");
const { defineGlobal } = require("./hooks.cjs");
const { bundle, rawBundle } = require("./display.cjs");
const { describe, installStacks } = require("./failures.cjs");
const { jsonText } = require("./json-text.cjs");
const { followWorkingDirectory } = require("./modules.cjs");
const { writeAll } = require("./streams.cjs");

/** Of what a cell displays, in characters of JSON. The host takes twice that in bytes. */
const longestOutputs = 16_000_000;

/** Thrown by `process.exit()` where the code cannot be ended otherwise. */
const exit = new Error("process.exit() ends the cell");

/** One interpreter state, and the cells that the host has it run. */
class Kernel {
  #control;
  #evaluator;
  #count = 0;
  /** The cell that runs. */
  #cell;
  #left = longestOutputs;
  /** Displayed between cells, by a callback: the next cell shows them. */
  #early = [];

  constructor(control, evaluator) {
    this.#control = control;
    this.#evaluator = evaluator;
  }

  serve() {
    installStacks();
    followWorkingDirectory();
    defineGlobal("display", (value, options) => this.#show(options?.raw ? rawBundle(value) : bundle(value)));
    process.exit = (code) => this.#exit(code);
    this.#arm();
    this.#control.listen({
      onCell: (message) => this.#run(message),
      onCancel: (id) => this.#cancel(id),
    });
    this.#control.send('{"ready":true}');
  }

  async #run({ id, code, hasValue }) {
    this.#count += 1;
    const cell = { id, name: `cell-${this.#count}`, code, outcome: undefined };
    this.#cell = cell;
    this.#left = longestOutputs;
    this.#arm();
    followWorkingDirectory();
    for (const forms of this.#early.splice(0)) this.#show(forms);
    let outcome;
    try {
      outcome = await this.#evaluate(cell, hasValue);
    } catch (error) {
      // What was evaluated has made what shows it fail.
      outcome = { error: describe(error, {}) };
    }
    // Rejections that nobody handles are told of by now.
    setImmediate(() => this.#finish(cell, outcome));
  }

  /** Runs the code and shows its value; what to tell of its end. */
  async #evaluate(cell, hasValue) {
    const ended = await this.#evaluator.evaluate(`${cell.code}\n//# sourceURL=${cell.name}`);
    if (cell !== this.#cell) return undefined;
    if ("error" in ended)
      return ended.error === exit ? undefined : { error: describe(ended.error, { ...ended, ...cell }) };
    if (!("value" in ended)) return undefined;
    if (!hasValue || ended.value === undefined) return {};
    const value = jsonText(ended.value);
    this.#show(bundle(ended.value, value));
    return { value };
  }

  /** Tells the host, unless an interrupt is on its way: then that does it. */
  #finish(cell, outcome) {
    if (cell !== this.#cell) return;
    cell.outcome ??= outcome;
    try {
      if (this.#control.mayEnd()) this.#end(cell);
    } catch (error) {
      giveUp(error);
    }
  }

  /** An interrupt: what the cell still waits for goes on without it. */
  #cancel(id) {
    const cell = this.#cell?.id === id ? this.#cell : { id };
    // What the signal has made fail, such as a program that was waited for.
    const consequence = cell.outcome?.error;
    if (consequence) cell.outcome = { error: interrupted(consequence.traceback) };
    this.#end(cell);
  }

  #end({ id, outcome = { error: interrupted() } }) {
    const wanted = Number.isInteger(process.exitCode) ? exitCode(process.exitCode) : 0;
    process.exitCode = undefined;
    const { error, value } = outcome;
    const code = outcome.exitCode ?? (error ? 1 : wanted);
    const fields = [`"exitCode":${code}`];
    if (value !== undefined) fields.push(`"value":${value}`);
    if (error) fields.push(`"error":${JSON.stringify(error)}`);
    this.#cell = undefined;
    this.#control.sendEnd(`{"id":${id},"done":{${fields.join(",")}}}`);
  }

  #show(forms) {
    if (forms.length > this.#left) {
      console.error(`display: an output is left out: ${longestOutputs} characters are the most`);
      return;
    }
    this.#left -= forms.length;
    if (this.#cell) this.#control.send(`{"id":${this.#cell.id},"display":${forms}}`);
    else this.#early.push(forms);
  }

  /** Ends the cell with its state kept; between cells, what calls it. */
  #exit(code = process.exitCode) {
    const cell = this.#cell;
    if (cell) {
      cell.outcome ??= { exitCode: exitCode(code) };
      setImmediate(() => this.#finish(cell));
    }
    this.#evaluator.stop(exit);
  }

  /** Takes back what a cell may have taken. */
  #arm() {
    for (const [event, handler] of Object.entries(handlers)) {
      if (!process.listeners(event).includes(handler)) process.on(event, handler);
    }
  }
}

/** A cell has changed what the driver is made of: it cannot tell its end. */
function giveUp(error) {
  writeAll(2, `the kernel cannot go on: ${error?.stack ?? error}\n`);
  process.reallyExit(1);
}

/** What keeps the kernel alive. */
const handlers = {
  SIGINT: () => undefined,
  uncaughtException: (error) => {
    // The user's own handlers have it too.
    if (error === exit || process.listenerCount("uncaughtException") > 1) return;
    process.stderr.write(describe(error, {}).traceback);
  },
};

function interrupted(where = "") {
  const [name, message] = ["InterruptedError", "the cell was interrupted: what was defined so far is kept"];
  return { name, message, traceback: `${where}${name}: ${message}\n` };
}

/** As Node takes it. */
function exitCode(code = 0) {
  const number = Number(code ?? 0);
  if (!Number.isInteger(number)) throw new TypeError(`process.exit: the code must be an integer, not ${String(code)}`);
  return number & 0xff;
}

module.exports = { Kernel };
