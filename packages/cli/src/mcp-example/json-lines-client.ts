import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export interface Answer {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** The least that a client of MCP over stdio is: one JSON document a line, answers by their ids. */
export class JsonLinesClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, PromiseWithResolversLike>();
  #lastId = 0;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, [...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdin.on("error", (error) => this.#fail(error));
    this.#child.on("error", (error) => this.#fail(error));
    this.#child.on("close", (code) => this.#fail(new Error(`the server ended (exit code ${code})`)));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#hear(JSON.parse(line)));
  }

  /** Asks, and waits for the answer. */
  async request(method: string, params: object): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Answer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#write({ jsonrpc: "2.0", id, method, params });
    return await answer;
  }

  notify(method: string): void {
    this.#write({ jsonrpc: "2.0", method });
  }

  /** Says that no more will come: the server ends its sandboxes and itself. */
  async close(): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.stdin.end();
    await ended;
  }

  #write(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #hear(answer: Answer): void {
    if (answer.id === undefined) return;
    this.#waiting.get(answer.id)?.resolve(answer);
    this.#waiting.delete(answer.id);
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

interface PromiseWithResolversLike {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}
