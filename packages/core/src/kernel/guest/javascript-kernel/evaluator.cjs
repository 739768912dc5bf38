const { Session } = require("node:inspector");
const { types } = require("node:util");
const { promiseHooks } = require("node:v8");
const { hooks, hooksSymbol } = require("./hooks.cjs");

const group = "cell";

/** Runs code in the global scope, as a console of V8 does: `let` and `const` may be declared again, `await` works. */
class Evaluator {
  #session = new Session();
  /** Its requests are taken while the other one evaluates. */
  #stopper = new Session();
  #depth = 0;
  /**
   * The promises of cells that have not come to their end. V8 tells its session, in the middle of a collection, of one
   * that nobody holds any more, and the interpreter would crash in that.
   */
  #pending = new Set();

  constructor() {
    this.#session.connect();
    this.#stopper.connect();
  }

  /**
   * Resolves to `{ value }`, or to `{ error, place }` of what was thrown, or to neither when it was terminated.
   * A promise as the value is waited for.
   */
  async evaluate(code) {
    const { failure, result } = await this.#start(code);
    if (failure) return {};
    try {
      const details = result.exceptionDetails;
      // Terminated, without an exception.
      if (details && !details.exception) return {};
      const { value } = await this.#real(details ? details.exception : result.result);
      if (details) return { error: value, place: placeOf(details) };
      return { value: types.isPromise(value) ? await value : value };
    } catch (error) {
      return { error };
    } finally {
      this.#session.post("Runtime.releaseObjectGroup", { objectGroup: group }, () => undefined);
    }
  }

  /** Ends the code on the stack, of which nothing goes on, not even `finally`. Where a callback runs, it throws. */
  stop(error) {
    if (this.#depth === 0) throw error;
    this.#stopper.post("Runtime.terminateExecution", () => undefined);
    for (;;);
  }

  async #start(code) {
    const parameters = { expression: code, replMode: true, awaitPromise: true, objectGroup: group };
    const made = [];
    const release = promiseHooks.onInit((promise) => {
      // The answer's, then that of the cell as a whole; what follows is the cell's own.
      if (made.length < 2) made.push(promise);
    });
    let answer;
    try {
      answer = this.#post("Runtime.evaluate", parameters);
    } finally {
      release();
    }
    this.#pending.add(made);
    try {
      return await answer;
    } finally {
      this.#pending.delete(made);
    }
  }

  /** The value itself of what the protocol tells of it; wrapped, so that no `then` of it is called. */
  async #real(told) {
    if (told.objectId === undefined) return { value: primitive(told) };
    const real = {};
    hooks.give = (value) => {
      real.value = value;
    };
    await this.#post("Runtime.callFunctionOn", {
      objectId: told.objectId,
      functionDeclaration: `function () { "use strict"; globalThis[Symbol.for("${hooksSymbol}")].give(this); }`,
    });
    return real;
  }

  /** Calls back out of the stack of the code, on which only frames are that can be left out by their names. */
  #post(method, parameters) {
    let settle;
    const answer = new Promise((resolve) => {
      settle = resolve;
    });
    this.#depth += 1;
    try {
      this.#session.post(method, parameters, (failure, result) => settle({ failure, result }));
    } finally {
      this.#depth -= 1;
    }
    return answer;
  }
}

function primitive({ type, value, unserializableValue }) {
  if (unserializableValue === undefined) return value;
  return type === "bigint" ? BigInt(unserializableValue.slice(0, -1)) : Number(unserializableValue);
}

/** Where a syntax error is; it has no stack. */
function placeOf({ scriptId, lineNumber, columnNumber, stackTrace }) {
  if (scriptId === undefined || stackTrace !== undefined) return undefined;
  return { line: lineNumber + 1, column: columnNumber };
}

module.exports = { Evaluator };
