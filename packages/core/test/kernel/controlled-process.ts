import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { ControlledProcess, SpawnControlled } from "../../src/agent/agent-kernel.js";
import type { ProcessExit } from "../../src/index.js";

/** Starts drivers as plain processes of this machine, with `names` in place of the interpreters asked for. */
export function spawnHere(names: Readonly<Record<string, string>>, env: Record<string, string> = {}): SpawnControlled {
  return async ([name = "", ...args], options) => {
    // As a guest agent does it, what cannot be found is a program that ends with 127.
    const command = ["/bin/sh", "-c", 'exec "$0" "$@"', names[name] ?? name, ...args] as const;
    const child = spawn(command[0], command.slice(1), {
      cwd: options.cwd,
      env: { ...process.env, ...env, ...options.env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
    });
    await once(child, "spawn");
    return new LocalControlledProcess(child);
  };
}

class LocalControlledProcess implements ControlledProcess {
  readonly id: string;
  readonly pid: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly controlOut: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  readonly controlOver: Promise<void>;
  readonly #controlIn: Writable;

  constructor(child: ChildProcess) {
    this.pid = child.pid ?? 0;
    this.id = String(this.pid);
    const outputs = { count: 0 };
    this.stdout = byteStream(child.stdio[1] as Readable, async () => void outputs.count++);
    this.stderr = byteStream(child.stdio[2] as Readable, async () => void outputs.count++);
    // What is in the other pipes by now is read in the same turn of the event loop.
    this.controlOut = byteStream(child.stdio[4] as Readable, async () => {
      for (let seen = -1; seen !== outputs.count; await setImmediate()) seen = outputs.count;
    });
    this.#controlIn = child.stdio[3] as Writable;
    // A driver that has ended reads no more.
    this.#controlIn.on("error", () => undefined);
    this.controlOver = new Promise((resolve) => this.#controlIn.on("close", resolve));
    this.exited = once(child, "exit").then(([exitCode, signal]) => ({ exitCode, ...(signal ? { signal } : {}) }));
    this.gone = this.exited.then(() => undefined);
  }

  async write(): Promise<void> {}

  async closeStdin(): Promise<void> {}

  async control(data: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#controlIn.write(data, () => resolve()));
  }

  async kill(signal: string): Promise<void> {
    this.#signal(signal);
  }

  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
  }

  #signal(signal: string): void {
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** Small chunks are read ahead, as those of an agent are. */
function byteStream(readable: Readable, before: () => Promise<void>): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = readable[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      await before();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel() {
      readable.destroy();
    },
  });
}
