import { Transform, type TransformCallback } from "node:stream";
import { type MessageProblem, messageProblem } from "./message-problem.js";

const newline = 0x0a;
/** Enough to find the id, which clients write first or last. */
const edgeBytes = 4096;

export interface MessageLinesOptions {
  readonly maxBytes: number;
  /** Gets the JSON-RPC id of a line that was dropped, where it can be told. */
  readonly onTooLong: (id: string | number | undefined) => void;
  /** Told of a line that is no message. */
  readonly onProblem: (problem: MessageProblem) => void;
}

/**
 * Passes whole messages on, each at once, and drops what is none and what is above a limit, the latter without keeping
 * it in memory. The SDK would close the connection over one such line, and not answer the others.
 */
export class MessageLines extends Transform {
  readonly #maxBytes: number;
  readonly #onTooLong: (id: string | number | undefined) => void;
  readonly #onProblem: (problem: MessageProblem) => void;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor({ maxBytes, onTooLong, onProblem }: MessageLinesOptions) {
    super();
    this.#maxBytes = maxBytes;
    this.#onTooLong = onTooLong;
    this.#onProblem = onProblem;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end + 1));
      this.#flushLine();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    done();
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#size += part.length;
    this.#chunks.push(part);
    if (this.#size <= this.#maxBytes) return;
    // Too long already: only its two ends are still of use.
    const [head, ...rest] = this.#chunks;
    const tail = Buffer.concat(rest).subarray(-edgeBytes);
    this.#chunks = [Buffer.from((head ?? part).subarray(0, edgeBytes)), Buffer.from(tail)];
  }

  #flushLine(): void {
    const line = Buffer.concat(this.#chunks);
    const tooLong = this.#size > this.#maxBytes;
    this.#chunks = [];
    this.#size = 0;
    if (tooLong) {
      this.#onTooLong(idOf(line));
      return;
    }
    const problem = messageProblem(line.toString("utf8"));
    if (problem === undefined) this.push(line);
    else this.#onProblem(problem);
  }
}

function idOf(edges: Buffer): string | number | undefined {
  const text = edges.toString("utf8");
  const match =
    /^\{"(?:jsonrpc":"2\.0","id|id)":("[^"\\]*"|\d+)/.exec(text) ?? /"id":("[^"\\]*"|\d+)\s*\}\s*$/.exec(text);
  return match?.[1] === undefined ? undefined : JSON.parse(match[1]);
}
