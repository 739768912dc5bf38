import { setTimeout } from "node:timers/promises";
import type { InterpreterContext } from "@daytona/toolbox-api-client";
import type { BoxProcess } from "../../box-process.js";
import type { EmulatedBox } from "../../emulated-box.js";
import { guestCommand } from "../../guest-program.js";

/** One message to a client that has something run. */
export interface InterpreterMessage {
  readonly type: "stdout" | "stderr" | "error" | "control";
  readonly text?: string | undefined;
}

/** How a piece of code ended: told by the interpreter; with it; or not in time, in spite of an interrupt. */
export type InterpreterEnd = "told" | "dead" | "late";

/** How long code that was interrupted may take to stop, in milliseconds. */
const graceMs = 2_000;

/** A Python that keeps what it was told, for one piece of code at a time. */
export class Interpreter {
  readonly info: InterpreterContext;
  readonly #process: BoxProcess;
  #queue: Promise<unknown> = Promise.resolve();
  #hear: (message: InterpreterMessage) => void = () => undefined;
  #over: Promise<void>;

  static async start(
    box: EmulatedBox,
    id: string,
    cwd: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Interpreter> {
    const process = await box.start({ argv: await guestCommand("interpreter"), cwd, env, stdin: true });
    return new Interpreter(id, cwd, process);
  }

  private constructor(id: string, cwd: string, process: BoxProcess) {
    this.info = { id, cwd, active: true, language: "python", createdAt: new Date().toISOString() };
    this.#process = process;
    // However it ends, it is over.
    this.#over = this.#listen()
      .catch(() => undefined)
      .then(() => {
        this.info.active = false;
      });
  }

  /** Settles when it has ended. */
  get over(): Promise<void> {
    return this.#over;
  }

  /**
   * Runs code after what was asked for before it, and hands on what is told of it.
   * @param timeoutMs 0: no limit.
   */
  execute(
    code: string,
    envs: Readonly<Record<string, string>>,
    timeoutMs: number,
    onMessage: (message: InterpreterMessage) => void,
  ): Promise<InterpreterEnd> {
    const turn = this.#queue.then(() => this.#run(`${JSON.stringify({ code, envs })}\n`, timeoutMs, onMessage));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async kill(): Promise<void> {
    await this.#process.signalTree("SIGKILL");
  }

  async #run(
    request: string,
    timeoutMs: number,
    onMessage: (message: InterpreterMessage) => void,
  ): Promise<InterpreterEnd> {
    const done = new AbortController();
    const told = new Promise<"told">((resolve) => {
      this.#hear = (message) => {
        onMessage(message);
        if (message.type === "control") resolve("told");
      };
    });
    const dead = this.#over.then(() => "dead" as const);
    const after = (ms: number) => setTimeout(ms, "late" as const, { signal: done.signal }).catch(() => "late" as const);
    try {
      if (!this.info.active) return "dead";
      await this.#process.write(Buffer.from(request));
      const end = await Promise.race([told, dead, ...(timeoutMs > 0 ? [after(timeoutMs)] : [])]);
      if (end !== "late") return end;
      await this.#process.signal("SIGINT");
      const last = await Promise.race([told, dead, after(graceMs)]);
      if (last === "late") {
        await this.kill();
        await this.#over;
      }
      return last;
    } finally {
      done.abort();
      this.#hear = () => undefined;
    }
  }

  async #listen(): Promise<void> {
    let rest = "";
    for await (const { stream, bytes } of this.#process.output()) {
      if (stream === "stderr") {
        this.#hear({ type: "stdout", text: bytes.toString("utf8") });
        continue;
      }
      // The interpreter writes ASCII: a character is never cut.
      const lines = (rest + bytes.toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(JSON.parse(line));
    }
  }
}
