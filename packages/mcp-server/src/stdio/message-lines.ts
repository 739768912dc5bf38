import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { type MessageProblem, readMessage } from "./read-message.js";

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
 * Finds whole messages, gives each at once, and drops what is none and what is above a limit, the latter without keeping
 * it in memory. The SDK would close the connection over one such line, and not answer the others.
 */
export class MessageLines {
  readonly #maxBytes: number;
  readonly #onTooLong: (id: string | number | undefined) => void;
  readonly #onProblem: (problem: MessageProblem) => void;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor({ maxBytes, onTooLong, onProblem }: MessageLinesOptions) {
    this.#maxBytes = maxBytes;
    this.#onTooLong = onTooLong;
    this.#onProblem = onProblem;
  }

  take(chunk: Buffer, onMessage: (message: JSONRPCMessage) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end + 1));
      this.#endLine(onMessage);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
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

  #endLine(onMessage: (message: JSONRPCMessage) => void): void {
    const [first] = this.#chunks;
    const line = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    const tooLong = this.#size > this.#maxBytes;
    this.#chunks = [];
    this.#size = 0;
    if (tooLong) {
      this.#onTooLong(idOf(line));
      return;
    }
    const read = readMessage(line.toString("utf8"));
    if (read === undefined) return;
    if ("message" in read) onMessage(read.message);
    else this.#onProblem(read.problem);
  }
}

function idOf(edges: Buffer): string | number | undefined {
  const text = edges.toString("utf8");
  const match =
    /^\{"(?:jsonrpc":"2\.0","id|id)":("[^"\\]*"|\d+)/.exec(text) ?? /"id":("[^"\\]*"|\d+)\s*\}\s*$/.exec(text);
  return match?.[1] === undefined ? undefined : JSON.parse(match[1]);
}
