const { setTimeout } = require("node:timers");
const { Worker } = require("node:worker_threads");
const { phases } = require("./phases.cjs");
const { writeAll } = require("./streams.cjs");

/** What the cell has due by then runs first: a loop in it would keep the next cell from its start. */
const imminentMs = 5;

/** Lines of JSON from the host, by way of the thread that reads them, and to it on descriptor 4. */
class Control {
  /** The phase of the cell that the host has sent last, and its id. */
  #state = new Int32Array(new SharedArrayBuffer(8));
  #reader;

  constructor(source, early) {
    this.#reader = new Worker(source, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { phases, state: this.#state, early },
    });
    this.#reader.on("error", (error) => {
      writeAll(2, `the kernel cannot hear the host: ${error?.stack ?? error}\n`);
      process.reallyExit(1);
    });
  }

  /** Calls back for each line with a cell, and for the id of a cell that is to end now. */
  listen({ onCell, onCancel }) {
    this.#reader.on("message", ({ cell, cancel }) => {
      if (cell !== undefined) onCell(JSON.parse(cell));
      else setTimeout(() => this.#takesCancel(cancel) && onCancel(cancel), imminentMs);
    });
  }

  /** Whether the running cell may be told to have ended: not while an interrupt is on its way. */
  mayEnd() {
    return this.#move(phases.running);
  }

  /** Writes one message, whole. */
  send(text) {
    writeAll(4, `${text}\n`);
  }

  /** The last message of a cell. */
  sendEnd(text) {
    Atomics.store(this.#state, 0, phases.idle);
    this.send(text);
  }

  /** One that comes late is for a cell that has ended. */
  #takesCancel(id) {
    if (Atomics.load(this.#state, 1) !== id) return false;
    return this.#move(phases.interrupting) || this.#move(phases.settled);
  }

  #move(from) {
    return Atomics.compareExchange(this.#state, 0, from, phases.ending) === from;
  }
}

module.exports = { Control };
