import type { OutputChunk } from "@sandkit/core";

type Stream = OutputChunk["stream"];

interface Piece {
  readonly stream: Stream;
  text: string;
}

/** What a reader gets: the text of each stream from its cursor on. */
export interface LogPage {
  readonly stdout: string;
  readonly stderr: string;
  /** Where this read begins. */
  readonly from: number;
  /** Where the next read goes on. */
  readonly next: number;
  /** Characters between the cursor and the first that is still there. */
  readonly missed: number;
}

/**
 * What a run has written so far, in the order it came, read by cursor: a number of characters since the beginning. The
 * oldest text gives way when there is too much.
 */
export class RunLog {
  readonly #maxChars: number;
  #pieces: Piece[] = [];
  /** Where the oldest piece is that is still there. */
  #first = 0;
  #start = 0;
  #end = 0;
  readonly #bytes = { stdout: 0, stderr: 0 };
  #lastLine = "";

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Characters written so far. */
  get end(): number {
    return this.#end;
  }

  /** Characters that are still there. */
  get held(): number {
    return this.#end - this.#start;
  }

  /** Bytes written so far. */
  get bytes(): { readonly stdout: number; readonly stderr: number } {
    return this.#bytes;
  }

  /** The latest line that is not empty, of either stream. */
  get lastLine(): string {
    return this.#lastLine;
  }

  add({ stream, bytes, text }: OutputChunk): void {
    this.#bytes[stream] += bytes.length;
    if (text === "") return;
    const last = this.#pieces.at(-1);
    // Small pieces grow together: a program that writes single characters costs no more than another.
    if (last?.stream === stream && last.text.length < 4_096) last.text += text;
    else this.#pieces.push({ stream, text });
    this.#end += text.length;
    this.#lastLine = lastLineOf(text) || this.#lastLine;
    while (this.#end - this.#start > this.#maxChars) this.#drop();
  }

  /** The text from `cursor` on. */
  read(cursor: number): LogPage {
    const page = { stdout: "", stderr: "" };
    let at = this.#start;
    for (const { stream, text } of this.#held()) {
      if (at + text.length > cursor) page[stream] += text.slice(Math.max(0, cursor - at));
      at += text.length;
    }
    return { ...page, from: cursor, next: this.#end, missed: Math.max(0, this.#start - cursor) };
  }

  /** All of one stream that is still there, or both in the order written. */
  text(stream: Stream | "output"): string {
    const wanted = this.#held().filter((piece) => stream === "output" || piece.stream === stream);
    const gone = this.#start > 0 ? `[... ${this.#start} characters are gone ...]\n` : "";
    return gone + wanted.map(({ text }) => text).join("");
  }

  #held(): readonly Piece[] {
    return this.#pieces.slice(this.#first);
  }

  #drop(): void {
    const oldest = this.#pieces[this.#first];
    if (oldest === undefined) return;
    const excess = this.#end - this.#start - this.#maxChars;
    const dropped = Math.min(excess, oldest.text.length);
    this.#start += dropped;
    if (dropped < oldest.text.length) {
      oldest.text = oldest.text.slice(dropped);
      return;
    }
    this.#first += 1;
    // Moved together now and then: at every piece it would cost more than the output.
    if (this.#first * 2 < this.#pieces.length) return;
    this.#pieces = this.#pieces.slice(this.#first);
    this.#first = 0;
  }
}

function lastLineOf(text: string): string {
  const lines = text
    .slice(-1_000)
    .trimEnd()
    .split(/[\r\n]/);
  return lines.at(-1)?.trim() ?? "";
}
