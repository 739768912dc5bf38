/** More than any pipe holds that a program may have made larger. */
const maxPipeBytes = 1024 * 1024;

/** Moves the output of a program onto a lane, never more than the host has room for. */
export class OutputPump {
  /** Counts what came, so that others can tell whether it is quiet. */
  seen = 0;
  #source;
  #lane;
  #gate;
  #held = null;
  #onEmpty = [];
  #closed = false;
  /** How many bytes still count, once the leader has ended. */
  #left = Infinity;

  /** @param gate Awaited before anything is handed on. */
  constructor(source, lane, gate) {
    this.#source = source;
    this.#lane = lane;
    this.#gate = gate;
    source.on("data", (bytes) => this.#take(bytes));
    // A socket that breaks off has ended like one that closes.
    source.on("error", () => source.destroy());
    source.on("close", () => this.#close());
    lane.onRoom = () => this.#flush();
  }

  /** Resolves when nothing waits in here for room. */
  empty() {
    if (this.#held === null) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  /** Lets through what is in the pipe by now. What a background child adds later is dropped. */
  async leaderEnded() {
    if (this.#left === Infinity) this.#left = maxPipeBytes;
    await untilQuiet([this]);
    this.#finish();
  }

  destroy() {
    this.#source.destroy();
  }

  async #take(bytes) {
    this.seen += 1;
    if (this.#lane.ended) return;
    const counted = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= counted.length;
    this.#held = counted;
    if (this.#gate) {
      this.#source.pause();
      await this.#gate();
    }
    this.#flush();
  }

  #flush() {
    if (this.#held === null) return;
    const piece = this.#held.subarray(0, Math.min(this.#held.length, this.#lane.room));
    this.#lane.send(piece);
    this.#held = this.#held.subarray(piece.length);
    if (this.#held.length > 0) {
      this.#source.pause();
      return;
    }
    this.#held = null;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
    this.#source.resume();
    if (this.#left === 0 || this.#closed) this.#finish();
  }

  #close() {
    this.#closed = true;
    if (this.#held === null) this.#finish();
  }

  #finish() {
    this.#lane.end();
    this.#held = null;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
    this.#source.resume();
  }
}

/** Resolves when two turns of the loop have brought nothing more from any of these. */
export async function untilQuiet(pumps) {
  const count = () => pumps.reduce((sum, pump) => sum + pump.seen, 0);
  for (let turns = 0, before = count(); turns < 2; ) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const pump of pumps) await pump.empty();
    const now = count();
    turns = now === before ? turns + 1 : 0;
    before = now;
  }
}
