import { randomInt } from "node:crypto";

/** Below what a shell counts with, above what anybody would set. */
const first = { lowest: 2 ** 40, end: 2 ** 46 };
const maxStep = 2 ** 20;

/**
 * The marks of one sandbox's programs: rising numbers, none of which a program can raise. A process with a number that
 * was given out before, and that no living program has, has lowered its own so as not to be found.
 */
export class ProgramMarks {
  readonly #living = new Set<string>();
  #last = randomInt(first.lowest, first.end);

  /** A mark for a program that is about to be started. */
  take(): string {
    this.#last += randomInt(1, maxStep);
    const mark = String(this.#last);
    this.#living.add(mark);
    return mark;
  }

  /** Nothing with this mark lives any more. */
  release(mark: string): void {
    this.#living.delete(mark);
  }

  /** What `kill.sh` is told beside the mark: the highest that was given out, and those of the other programs. */
  around(mark: string): readonly [highest: string, others: string] {
    return [String(this.#last), [...this.#living].filter((other) => other !== mark).join(" ")];
  }
}
