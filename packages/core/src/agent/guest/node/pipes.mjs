import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const batch = 24;
const low = 8;

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
  #env;

  constructor(env) {
    this.#env = env;
  }

  /** Two descriptors of a new pipe, `mine` of which does not block; null where there are none to be had. */
  async take(direction) {
    if (this.#ready.length === 0 && !this.#missing) await this.refill();
    const pipe = this.#ready.pop();
    if (this.#ready.length < low && !this.#missing) this.refill();
    if (pipe === undefined) return null;
    const path = `/proc/self/fd/${pipe}`;
    const [mine, theirs] =
      direction === "in" ? [constants.O_WRONLY, constants.O_RDONLY] : [constants.O_RDONLY, constants.O_WRONLY];
    try {
      return { mine: openSync(path, mine | constants.O_NONBLOCK), theirs: openSync(path, theirs) };
    } finally {
      closeSync(pipe);
    }
  }

  refill() {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make() {
    const folder = privateFolder();
    if (folder === null) {
      this.#missing = true;
      return;
    }
    const names = Array.from({ length: batch }, (_, index) => `${folder}/${index}`);
    try {
      const made = await new Promise((resolve) => {
        const helper = spawn("mkfifo", ["-m", "600", ...names], { env: this.#env, stdio: "ignore" });
        if (helper.pid !== undefined) this.helpers.add(helper.pid);
        helper.on("error", () => resolve(false));
        helper.on("exit", (code) => {
          this.helpers.delete(helper.pid);
          resolve(code === 0);
        });
      });
      if (!made) this.#missing = true;
      else for (const name of names) this.#ready.push(openSync(name, constants.O_RDWR | constants.O_NONBLOCK));
    } finally {
      rmSync(folder, { recursive: true, force: true });
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
