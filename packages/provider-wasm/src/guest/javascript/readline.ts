import { EventEmitter } from "./events.js";

interface Input extends EventEmitter {
  setEncoding(encoding: string): unknown;
  pause(): unknown;
}

/** Lines of an input, as events, by `for await`, and as answers to questions. */
class Interface extends EventEmitter {
  readonly #output: { write(text: string): unknown } | undefined;
  readonly #input: Input;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #rest = "";
  #closed = false;

  constructor(input: Input, output: { write(text: string): unknown } | undefined) {
    super();
    this.#input = input;
    this.#output = output;
    input.setEncoding("utf8");
    input.on("data", ((text: string) => this.#take(text)) as never);
    input.on("end", () => {
      if (this.#rest !== "") this.#line(this.#rest);
      this.close();
    });
  }

  question(text: string, options: unknown, done = options): Promise<string> | undefined {
    this.#output?.write(text);
    if (typeof done === "function") {
      void this.#next().then((line) => line !== undefined && done(line));
      return undefined;
    }
    return this.#next().then((line) => line ?? "");
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.pause();
    this.#waiting?.(undefined);
    this.emit("close");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (let line = await this.#next(); line !== undefined; line = await this.#next()) yield line;
  }

  setPrompt(): void {}
  prompt(): void {}

  #next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#closed) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting = (next) => {
        this.#waiting = undefined;
        resolve(next);
      };
    });
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (this.#waiting) this.#waiting(line);
    else if (!this.emit("line", line)) this.#lines.push(line);
  }
}

export function createInterface(options: { input: Input; output?: { write(text: string): unknown } }): Interface {
  return new Interface(options.input, options.output);
}
