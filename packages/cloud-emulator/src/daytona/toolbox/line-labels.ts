/** What stands before every line of a log, by the stream that it comes from. */
const marks = { stdout: Buffer.from([1, 1, 1]), stderr: Buffer.from([2, 2, 2]) } as const;

/** How {@link LineLabels} treats what it labels. */
export interface LabelOptions {
  readonly addFinalNewline: boolean;
  readonly dropNul: boolean;
}

/**
 * Puts the mark of a stream before each of its lines, which are handed on whole. Nothing escapes the marks: a program
 * that prints them is taken at its word.
 */
export class LineLabels {
  readonly #mark: Buffer;
  readonly #options: LabelOptions;
  #rest: Buffer[] = [];

  constructor(stream: "stdout" | "stderr", options: LabelOptions) {
    this.#mark = marks[stream];
    this.#options = options;
  }

  /** The complete lines, labelled. */
  push(bytes: Buffer): Buffer {
    const kept = this.#options.dropNul && bytes.includes(0) ? Buffer.from(bytes.filter((byte) => byte !== 0)) : bytes;
    const out: Buffer[] = [];
    let start = 0;
    for (let end = kept.indexOf(10); end >= 0; end = kept.indexOf(10, start)) {
      out.push(this.#mark, ...this.#rest.splice(0), kept.subarray(start, end + 1));
      start = end + 1;
    }
    if (start < kept.length) this.#rest.push(kept.subarray(start));
    return Buffer.concat(out);
  }

  /** The last line, when it had no end. */
  end(): Buffer {
    if (this.#rest.length === 0) return Buffer.alloc(0);
    const newline = this.#options.addFinalNewline ? Buffer.from("\n") : Buffer.alloc(0);
    return Buffer.concat([this.#mark, ...this.#rest.splice(0), newline]);
  }
}

/** The streams of a log, apart and as they were written one after the other, without the marks. */
export function splitLog(log: Buffer): { stdout: string; stderr: string; output: string } {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[], output: [] as Buffer[] };
  for (let at = 0; at < log.length; ) {
    const stream = log.indexOf(marks.stderr, at) === at ? "stderr" : "stdout";
    const from = at + marks[stream].length;
    const nexts = [log.indexOf(marks.stdout, from), log.indexOf(marks.stderr, from)].filter((index) => index >= 0);
    const to = Math.min(log.length, ...nexts);
    parts[stream].push(log.subarray(from, to));
    parts.output.push(log.subarray(from, to));
    at = to;
  }
  const text = (pieces: readonly Buffer[]) => Buffer.concat(pieces).toString("utf8");
  return { stdout: text(parts.stdout), stderr: text(parts.stderr), output: text(parts.output) };
}
