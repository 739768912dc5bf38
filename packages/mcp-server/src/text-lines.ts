/** Lines of a file, with a sentence on which. */
export interface Lines {
  /** `(lines 1-20 of 20)`. */
  readonly summary: string;
  readonly text: string;
}

/**
 * The lines of a stream from `offset` (from 1) on, `limit` of them and `maxChars` characters at most. The stream is
 * read no further than needed. Undefined when it is not valid UTF-8.
 */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  maxChars: number,
): Promise<Lines | undefined> {
  const collected = new LineWindow(offset, limit, maxChars);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      collected.add(decoder.decode(value, { stream: !done }));
      if (done) return collected.end(true);
      if (collected.full) return collected.end(false);
    }
  } catch (error) {
    if (error instanceof TypeError && (error as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      return undefined;
    }
    throw error;
  } finally {
    // Telling a source that nobody reads on may fail; what was read stands.
    reader.cancel().catch(() => undefined);
  }
}

/** Takes text in pieces and keeps the wanted lines within the budget. */
class LineWindow {
  readonly #offset: number;
  readonly #last: number;
  readonly #maxChars: number;
  #kept = "";
  #line = 1;
  #cut = false;
  #endsWithBreak = true;

  constructor(offset: number, limit: number, maxChars: number) {
    this.#offset = offset;
    this.#last = offset + limit - 1;
    this.#maxChars = maxChars;
  }

  /** True once nothing more can be kept. */
  get full(): boolean {
    return this.#cut || this.#line > this.#last;
  }

  add(text: string): void {
    let start = 0;
    while (start < text.length && !this.full) {
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline + 1;
      if (this.#line >= this.#offset) this.#keep(text.slice(start, end));
      if (this.#cut) return;
      if (newline >= 0) this.#line += 1;
      this.#endsWithBreak = newline >= 0;
      start = end;
    }
  }

  #keep(piece: string): void {
    const room = this.#maxChars - this.#kept.length;
    this.#kept += piece.slice(0, room);
    if (piece.length > room) this.#cut = true;
  }

  end(complete: boolean): Lines {
    const last = this.#cut || !this.#endsWithBreak ? this.#line : this.#line - 1;
    return { summary: this.#summary(last, complete && !this.full), text: this.#kept.replace(/\n$/, "") };
  }

  #summary(last: number, complete: boolean): string {
    if (last === 0) return "(empty file)";
    if (last < this.#offset) return `(has ${last} lines: offset ${this.#offset} is past the end)`;
    if (this.#cut) {
      const next =
        last > this.#offset ? `go on with offset ${last}, or read parts with code` : "read parts of it with code";
      return `(lines ${this.#offset}-${last}, cut within line ${last} at ${this.#maxChars} characters: ${next})`;
    }
    if (complete) return `(lines ${this.#offset}-${last} of ${last})`;
    return `(lines ${this.#offset}-${last}; for more: offset ${last + 1})`;
  }
}
