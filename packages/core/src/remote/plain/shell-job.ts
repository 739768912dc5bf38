import { randomBytes } from "node:crypto";
import { deferred } from "../../deferred.js";
import type { SandboxError } from "../../errors.js";
import type { OutputSink } from "../../plain/plain-place.js";

/** What the relay's pipe takes at once, with what is said of it. */
const inputBytes = 60 * 1000;
/** More than is said of a piece. */
const headBytes = 100;

type OutputName = "out" | "err";

interface Output {
  /** Number of the last piece that has come. */
  received: number;
  ended: boolean;
  /** A piece that the relay has not been told of, because there was no room for more. */
  owed: boolean;
}

/** A piece of input that the program has not got yet. */
interface Piece {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly taken: () => void;
}

/** What a job is run with. */
export interface JobOptions {
  /** Shell code that leaves the program as `"$@"`. */
  readonly code: string;
  readonly stdin: boolean;
  /** Says a line to the relay, and what belongs to it. */
  readonly say: (line: string, bytes?: Uint8Array) => void;
  /** Most bytes that are said at once. */
  readonly maxSendBytes: number;
  /** Both outputs have come to their end. */
  readonly onOver: () => void;
}

/**
 * One program of the relay on a terminal: our end of `guest/relay.sh`. Each output has one piece on its way at a time,
 * and so has the input: whoever has not been answered says it again, and who has it already takes no notice.
 */
export class ShellJob {
  readonly name = randomBytes(6).toString("hex");
  readonly #options: JobOptions;
  readonly #outputs: Readonly<Record<OutputName, Output>> = {
    out: { received: 0, ended: false, owed: false },
    err: { received: 0, ended: false, owed: false },
  };
  readonly #pieces: Piece[] = [];
  readonly #probes = new Map<string, () => void>();
  #sink: OutputSink | undefined;
  #running = false;
  #sentInput = 0;
  #inputs = 0;
  #inputEnded = false;
  #probe = 0;
  #over = false;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#inputEnded = !options.stdin;
    this.#run();
  }

  get over(): boolean {
    return this.#over;
  }

  /** Whether output is held up for want of room. */
  get held(): boolean {
    return this.#outputs.out.owed || this.#outputs.err.owed;
  }

  listen(sink: OutputSink): void {
    this.#sink = sink;
  }

  /** There is room again. */
  resume(): void {
    for (const name of ["out", "err"] as const) if (this.#outputs[name].owed) this.#acknowledge(name);
  }

  /** Resolves when the program has got all of it, or takes no more. */
  async write(data: Uint8Array): Promise<void> {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const taken: Promise<void>[] = [];
    const most = Math.min(inputBytes, this.#options.maxSendBytes - headBytes);
    for (let at = 0; at < bytes.length && !this.#inputEnded; at += most) {
      taken.push(this.#give(bytes.subarray(at, at + most)));
    }
    await Promise.all(taken);
  }

  end(): void {
    if (this.#inputEnded) return;
    this.#give(new Uint8Array()).catch(() => undefined);
    this.#inputEnded = true;
  }

  /** Resolves when all that the relay had said before it was asked has come. */
  async probe(): Promise<void> {
    if (this.#over) return;
    this.#probe += 1;
    const number = String(this.#probe);
    const answered = deferred<void>();
    this.#probes.set(number, () => answered.resolve());
    this.#say(`probe ${number}`);
    await answered.promise;
  }

  /** The connection was another one until now: what was on its way may be lost. */
  again(): void {
    if (this.#over) return;
    if (!this.#running) this.#run();
    else this.#say("again");
    for (const number of this.#probes.keys()) this.#say(`probe ${number}`);
  }

  /** Takes a line of the relay, without its end. */
  hear(line: string): void {
    if (this.#over || !line.startsWith(`${this.name} `)) return;
    const [, word = "", value = "", text = ""] = line.split(" ");
    if (word === "out" || word === "err") this.#take(word, Number(value), text);
    else if (word === "run") this.#begin();
    else if (word === "in") this.#got(Number(value));
    else if (word === "seen") this.#seen(Number(value));
    else if (word === "probe") {
      this.#probes.get(value)?.();
      this.#probes.delete(value);
    }
  }

  /** Nothing more comes, whatever the program does. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#inputEnded = true;
    for (const { taken } of this.#pieces.splice(0)) taken();
    for (const answered of this.#probes.values()) answered();
    this.#options.onOver();
  }

  /** Whether both ends were seen. */
  get complete(): boolean {
    return this.#outputs.out.ended && this.#outputs.err.ended;
  }

  #run(): void {
    const { code, stdin } = this.#options;
    this.#say(`run ${stdin ? "stdin" : "none"} ${Buffer.from(code).toString("base64")} .`);
  }

  #begin(): void {
    if (this.#running) return;
    this.#running = true;
    this.#feed();
  }

  #take(name: OutputName, number: number, text: string): void {
    // Whoever says something runs, though the word of that was lost.
    this.#begin();
    const output = this.#outputs[name];
    if (number === output.received && !output.owed) this.#say(`${name} ${number}`);
    if (number !== output.received + 1) return;
    output.received = number;
    if (text === "") output.ended = true;
    else if (name === "out") this.#sink?.stdout(Buffer.from(text, "base64"));
    else this.#sink?.stderr(Buffer.from(text, "base64"));
    if (text !== "" && this.#sink && !this.#sink.wanted()) output.owed = true;
    else this.#acknowledge(name);
    if (!this.complete) return;
    this.#say("over");
    this.stop();
  }

  #acknowledge(name: OutputName): void {
    const output = this.#outputs[name];
    output.owed = false;
    this.#say(`${name} ${output.received}`);
  }

  #give(bytes: Uint8Array): Promise<void> {
    this.#inputs += 1;
    const number = this.#inputs;
    return new Promise<void>((taken) => {
      this.#pieces.push({ number, bytes, taken });
      this.#feed();
    });
  }

  #feed(): void {
    const [piece] = this.#pieces;
    if (!piece || !this.#running || this.#sentInput >= piece.number) return;
    this.#sentInput = piece.number;
    this.#say(`in ${piece.number} ${piece.bytes.length}`, piece.bytes);
  }

  #got(number: number): void {
    while (this.#pieces[0] && this.#pieces[0].number <= number) this.#pieces.shift()?.taken();
    this.#feed();
  }

  /** What has not come is said again. */
  #seen(number: number): void {
    this.#sentInput = Math.min(this.#sentInput, number);
    this.#feed();
  }

  #say(line: string, bytes?: Uint8Array): void {
    this.#options.say(`${this.name} ${line}`, bytes);
  }
}

/** Why a job's terminal is of no more use, and whether its program was ended with it. */
export interface ShellFailure {
  readonly error: SandboxError;
  readonly isGone: boolean;
}
