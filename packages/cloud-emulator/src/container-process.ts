import { once } from "node:events";
import { constants } from "node:os";
import type { Duplex } from "node:stream";
import { SandboxError } from "@sandkit/core";
import {
  type BoxExit,
  type BoxOutput,
  type BoxProcess,
  type BoxProgram,
  BoxStartError,
  type TerminalSize,
} from "./box-process.js";
import type { Container, ContainerBox, ContainerExec } from "./container.js";
import { guestScript } from "./guest-program.js";

const headerBytes = 8;
/** The engine lets go of a terminal when it is sent these, two by default: nothing that is typed has so many in a row. */
const noKeys = Array.from({ length: 32 }, (_, index) => (index % 3 === 0 ? "ctrl-]" : "ctrl-^")).join(",");

/** A program in a container that has no Python for our helpers: the engine runs it, on a terminal if it is to have one. */
export class ContainerProcess implements BoxProcess {
  readonly pid: number;
  readonly program: BoxProgram;
  readonly exited: Promise<BoxExit>;
  readonly #box: ContainerBox;
  readonly #exec: ContainerExec;
  readonly #streams: Duplex;
  readonly #output: AsyncGenerator<BoxOutput>;
  readonly #first: BoxOutput;
  readonly #closed: Promise<void>;

  /** @throws BoxStartError when it cannot be started */
  static async start(box: ContainerBox, program: BoxProgram): Promise<ContainerProcess> {
    const { container, user } = box;
    const { argv, cwd, env, stdin, pty } = program;
    const exec = await container.exec({
      Cmd: await guestScript("container-program", cwd, ...argv),
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      User: user,
      AttachStdin: stdin,
      AttachStdout: true,
      AttachStderr: true,
      Tty: pty !== undefined,
      DetachKeys: noKeys,
    });
    const streams = await exec.start({ hijack: true, stdin, Tty: pty !== undefined });
    streams.on("error", () => streams.destroy());
    const output = pty ? terminalOutput(streams) : pipeOutput(streams);
    let said = Buffer.alloc(0);
    while (!said.includes(0x0a)) {
      const { value, done } = await output.next();
      if (done)
        throw new SandboxError("SANDBOX_LOST", "the box ended before its program had started", { operation: "exec" });
      said = Buffer.concat([said, value.bytes]);
    }
    const end = said.indexOf(0x0a);
    const [word, value = ""] = said.toString("utf8", 0, end).trim().split(" ");
    if (word === "cwd") throw new BoxStartError("cwd", value, cwd);
    if (word !== "pid") throw new BoxStartError("program", value, argv[0] ?? "");
    const first = { stream: "stdout", bytes: said.subarray(end + 1) } as const;
    const process = new ContainerProcess({ box, exec, streams, output, first, program, pid: Number(value) });
    if (pty) await process.resize(pty);
    return process;
  }

  private constructor(parts: {
    readonly box: ContainerBox;
    readonly exec: ContainerExec;
    readonly streams: Duplex;
    readonly output: AsyncGenerator<BoxOutput>;
    readonly first: BoxOutput;
    readonly program: BoxProgram;
    readonly pid: number;
  }) {
    this.pid = parts.pid;
    this.program = parts.program;
    this.#box = parts.box;
    this.#exec = parts.exec;
    this.#streams = parts.streams;
    this.#output = parts.output;
    this.#first = parts.first;
    this.#closed = new Promise<void>((resolve) => this.#streams.once("close", resolve));
    this.exited = this.#closed.then(() => this.#exit());
    this.exited.catch(() => undefined);
  }

  async *output(): AsyncGenerator<BoxOutput> {
    if (this.#first.bytes.length > 0) yield this.#first;
    yield* this.#output;
    await this.exited;
  }

  async write(data: Uint8Array): Promise<void> {
    const streams = this.#streams;
    if (streams.destroyed || streams.writableEnded) return;
    await Promise.race([new Promise<void>((resolve) => streams.write(data, () => resolve())), this.#closed]);
  }

  async closeStdin(): Promise<void> {
    this.#streams.end();
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    await this.#kill(name, String(this.pid));
  }

  async signalTree(name: NodeJS.Signals): Promise<void> {
    await this.#kill(name, String(this.pid), `-${this.pid}`);
  }

  async resize({ rows, columns }: TerminalSize): Promise<void> {
    await this.#exec.resize({ h: rows, w: columns });
  }

  async #kill(name: NodeJS.Signals, ...targets: readonly string[]): Promise<void> {
    // Those that are gone are no error.
    const { container, user } = this.#box;
    await runInContainer(container, user, ["kill", `-${name.slice(3)}`, "--", ...targets]);
  }

  async #exit(): Promise<BoxExit> {
    const { ExitCode: code } = await this.#exec.inspect();
    if (code === null) throw new SandboxError("SANDBOX_LOST", `the end of process ${this.pid} was not told`);
    const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
    return signal === undefined ? { code, signal: null } : { code: null, signal };
  }
}

/** Kills all that was started in a container. */
export async function killInContainer({ container, user, firstPids }: ContainerBox): Promise<void> {
  await runInContainer(container, user, await guestScript("container-kill", ...firstPids));
}

async function runInContainer(container: Container, user: string, command: readonly string[]): Promise<void> {
  const exec = await container.exec({ AttachStdout: true, AttachStderr: true, User: user, Cmd: [...command] });
  const streams = await exec.start({});
  streams.resume();
  await once(streams, "close");
}

async function* terminalOutput(streams: Duplex): AsyncGenerator<BoxOutput> {
  for await (const bytes of streams) yield { stream: "stdout", bytes };
}

/** Takes the engine's frames apart: a type, three zeros, a length of four bytes, the bytes. */
async function* pipeOutput(streams: Duplex): AsyncGenerator<BoxOutput> {
  let held = Buffer.alloc(0);
  for await (const piece of streams) {
    held = Buffer.concat([held, piece]);
    while (held.length >= headerBytes && held.length >= headerBytes + held.readUInt32BE(4)) {
      const end = headerBytes + held.readUInt32BE(4);
      yield { stream: held[0] === 2 ? "stderr" : "stdout", bytes: held.subarray(headerBytes, end) };
      held = held.subarray(end);
    }
  }
}
