/** How `guest/spawn.sh` says that a program has ended. */
export interface SpawnEnd {
  readonly how: "exited" | "signaled" | "oom";
  readonly code: number;
  /** Whether processes that it started still run. */
  readonly survived: boolean;
}

/** More than any line of ours has. */
const longestLine = 16 * 1024;
const endLine = /^\0\S+ (exited|signaled|oom) (\d{1,3}) (alone|survived)$/;

/** Who is told what. */
export interface SpawnListener {
  /** Its pid, or why it was not started. */
  started(outcome: { readonly pid: number } | { readonly refused: string }): void;
  ended(end: SpawnEnd): void;
  /** What the program itself wrote. */
  output(bytes: Buffer): void;
}

/**
 * Takes what `guest/spawn.sh` says out of the stderr that it shares with its program: a line at the start, and one
 * after the program's end. The token makes them known; a program that finds it out fools nobody but its own caller.
 */
export class SpawnReport {
  readonly #token: string;
  readonly #ending: Buffer;
  readonly #listener: SpawnListener;
  #state: "before" | "running" | "ended" = "before";
  #held: Buffer = Buffer.alloc(0);

  constructor(token: string, listener: SpawnListener) {
    this.#token = token;
    this.#ending = Buffer.from(`\0${token} `);
    this.#listener = listener;
  }

  /** Whether the start has been told. */
  get begun(): boolean {
    return this.#state !== "before";
  }

  get ended(): boolean {
    return this.#state === "ended";
  }

  push(bytes: Uint8Array): void {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : Buffer.from(bytes);
    this.#held = Buffer.alloc(0);
    if (this.#state === "before") this.#begin(all);
    else if (this.#state === "running") this.#run(all);
    else this.#listener.output(all);
  }

  /** No more comes: what was held back was the program's own. */
  flush(): void {
    if (this.#state !== "before" && this.#held.length > 0) this.#listener.output(this.#held);
    this.#held = Buffer.alloc(0);
  }

  #begin(all: Buffer): void {
    const end = all.indexOf("\n");
    if (end < 0 && all.length < longestLine) {
      this.#held = all;
      return;
    }
    const [token, word = "", value = ""] = all.subarray(0, end).toString("utf8").split(" ");
    this.#state = "running";
    if (token === this.#token && word === "started") this.#listener.started({ pid: Number(value) });
    else this.#listener.started({ refused: token === this.#token ? value || word : all.toString("utf8") });
    if (end + 1 < all.length) this.#run(all.subarray(end + 1));
  }

  #run(all: Buffer): void {
    const at = all.indexOf(this.#ending);
    if (at >= 0) {
      const end = all.indexOf("\n", at);
      if (at > 0) this.#listener.output(all.subarray(0, at));
      if (end < 0 && all.length - at < longestLine) {
        this.#held = all.subarray(at);
        return;
      }
      const told = endOf(all.subarray(at, end).toString("utf8"));
      if (!told) {
        // The program's own, which has found the token out.
        this.#listener.output(all.subarray(at, at + this.#ending.length));
        this.#run(all.subarray(at + this.#ending.length));
        return;
      }
      this.#state = "ended";
      this.#listener.ended(told);
      if (end + 1 < all.length) this.#listener.output(all.subarray(end + 1));
      return;
    }
    const cut = this.#possibleBeginning(all);
    if (cut > 0) this.#listener.output(all.subarray(0, cut));
    this.#held = all.subarray(cut);
  }

  /** Where the last bytes begin that may be the first of the ending, whose rest is still to come. */
  #possibleBeginning(all: Buffer): number {
    for (let at = Math.max(0, all.length - this.#ending.length + 1); at < all.length; at++) {
      if (this.#ending.subarray(0, all.length - at).equals(all.subarray(at))) return at;
    }
    return all.length;
  }
}

function endOf(line: string): SpawnEnd | undefined {
  const [, how, code, left] = endLine.exec(line) ?? [];
  if (Number(code) > 255) return undefined;
  if (how !== "exited" && how !== "signaled" && how !== "oom") return undefined;
  return { how, code: Number(code), survived: left === "survived" };
}
