import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { AgentFailure } from "./failure.mjs";

const batch = 24;
const low = 8;
/** O_PATH, which Node does not name. */
const nameOnly = 0o10000000;

/**
 * Real pipes, which Node has no call for: its own are sockets, so that a program could not open `/dev/stdout`.
 * Named pipes are made a batch at a time, opened, and their names removed at once.
 */
export class Pipes {
  /** Pids of the helpers that run now. */
  helpers = new Set();
  #ready = [];
  #making = null;
  #missing = false;
  #folder = null;
  #env;

  constructor(env) {
    this.#env = env;
  }

  /**
   * Two descriptors of a new pipe, `mine` of which does not block, and for one into a program a third that only names
   * it; null where there are none to be had.
   */
  async take(direction) {
    while (this.#ready.length === 0 && !this.#missing) {
      if (!(await this.refill())) throw new AgentFailure("EMFILE", "no descriptors are left for pipes");
    }
    const pipe = this.#ready.pop();
    if (this.#ready.length < low && !this.#missing) this.refill();
    if (pipe === undefined) return null;
    const path = `/proc/self/fd/${pipe}`;
    const [mine, theirs] =
      direction === "in" ? [constants.O_WRONLY, constants.O_RDONLY] : [constants.O_RDONLY, constants.O_WRONLY];
    const ends = { mine: -1, theirs: -1, name: -1 };
    try {
      ends.mine = openSync(path, mine | constants.O_NONBLOCK);
      ends.theirs = openSync(path, theirs);
      if (direction === "in") ends.name = openSync(path, nameOnly);
      return ends;
    } catch (error) {
      for (const end of Object.values(ends)) if (end >= 0) closeSync(end);
      throw error;
    } finally {
      closeSync(pipe);
    }
  }

  /** Resolves with whether it was of use. */
  refill() {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make() {
    const folder = privateFolder();
    this.#folder = folder;
    if (folder === null) {
      this.#missing = true;
      return true;
    }
    const names = Array.from({ length: batch }, (_, index) => `${folder}/${index}`);
    try {
      const made = await new Promise((resolve) => {
        const helper = spawn("mkfifo", ["-m", "600", ...names], { env: this.#env, stdio: "ignore" });
        if (helper.pid !== undefined) this.helpers.add(helper.pid);
        helper.on("error", (error) => {
          // Anything else may be better the next time.
          this.#missing = error.code === "ENOENT";
          resolve(false);
        });
        helper.on("exit", (code) => {
          this.helpers.delete(helper.pid);
          resolve(code === 0);
        });
      });
      const before = this.#ready.length;
      if (made) for (const name of names) this.#open(name);
      return this.#missing || this.#ready.length > before;
    } finally {
      this.drop();
    }
  }

  /** Removes names that have not been removed yet. */
  drop() {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = null;
  }

  #open(name) {
    try {
      this.#ready.push(openSync(name, constants.O_RDWR | constants.O_NONBLOCK));
    } catch (error) {
      // Those that there are must do; without any, the program that asks is told.
      if (error.code !== "EMFILE" && error.code !== "ENFILE") throw error;
    }
  }
}

function privateFolder() {
  for (const parent of ["/dev/shm", tmpdir(), process.cwd()]) {
    try {
      accessSync(parent, constants.W_OK);
      return mkdtempSync(`${parent}/.sandkit-`);
    } catch (error) {
      // The next one may do; without any, programs get Node's sockets.
      if (typeof error.code !== "string") throw error;
    }
  }
  return null;
}

/**
 * Lets those go on who open a pipe by name that has no writer any more: a named pipe makes them wait for one, where
 * that of a shell would be at its end.
 */
export function wakeReaders(name) {
  try {
    closeSync(openSync(`/proc/self/fd/${name}`, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch (error) {
    // Nobody has it open.
    if (error.code !== "ENXIO" && error.code !== "EMFILE") throw error;
  }
}
