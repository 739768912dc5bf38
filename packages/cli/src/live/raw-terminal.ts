import { spawnSync } from "node:child_process";
import type { PtySize } from "@sandkit/core";

/** Leaves another screen, which a program that was cut off may have drawn on. */
const leaveScreen = "\u001b[?1049l";
/**
 * Ends what a program may have switched on: reports of the mouse and of focus, which would be typed into whatever comes
 * next, and pasting in brackets; shows the cursor.
 */
const calm = "\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1004l\u001b[?1006l\u001b[?2004l\u001b[?25h\u001b[0m";

/** What a terminal tells. */
interface Listeners {
  readonly onKeys: (bytes: Uint8Array) => void;
  readonly onResize: (size: PtySize) => void;
  /** This process was told to end, or the terminal went away; with the exit code that says so. */
  readonly onEnd: (exitCode: number) => void;
}

/** The terminal of this process, given over to a program elsewhere: every key is its own, Ctrl-C too. */
export class RawTerminal {
  readonly #undo: (() => void)[] = [];
  readonly #input = process.stdin;
  readonly #output = process.stdout;
  /** Settles once `close` was called. */
  readonly closed: Promise<void>;
  #close: () => void = () => undefined;

  constructor() {
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  get size(): PtySize {
    const { columns = 80, rows = 24 } = this.#output;
    return { columns: Math.min(1000, Math.max(1, columns)), rows: Math.min(1000, Math.max(1, rows)) };
  }

  /** From here on keys go to the listener, until `restore`. */
  start({ onKeys, onResize, onEnd }: Listeners): void {
    const resize = () => onResize(this.size);
    const gone = () => onEnd(129);
    const signals = [
      ["SIGTERM", () => onEnd(143)],
      ["SIGHUP", gone],
      // Only from outside: as a key it is a byte.
      ["SIGINT", () => onEnd(130)],
    ] as const;
    this.#input.on("data", onKeys).on("end", gone).on("error", gone);
    this.#output.on("resize", resize);
    for (const [signal, handler] of signals) process.on(signal, handler);
    this.#undo.push(() => {
      this.#input.off("data", onKeys).off("end", gone).off("error", gone);
      this.#output.off("resize", resize);
      for (const [signal, handler] of signals) process.off(signal, handler);
      this.#input.setRawMode(false);
      this.#input.pause();
    });
    // Only now: one that is told to end from here on gives the terminal back first.
    this.#input.setRawMode(true);
    // Node's raw mode goes on making two characters of each line feed, which draws full-screen programs wrongly. Where
    // there is no stty, nothing else can be done about it.
    spawnSync("stty", ["-opost"], { stdio: ["inherit", "ignore", "ignore"] });
    // It may have changed while the shell was started.
    resize();
  }

  /** Passes output on, no faster than the terminal shows it. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#output.write(bytes)) return;
    await Promise.race([new Promise((resolve) => this.#output.once("drain", resolve)), this.closed]);
  }

  /** Nothing more comes from the program. */
  close(): void {
    this.#close();
  }

  /** Gives the terminal back as it was. Idempotent. @param cutOff Whether a program may not have cleared up. */
  restore(cutOff: boolean): void {
    const started = this.#undo.length > 0;
    for (const undo of this.#undo.splice(0)) undo();
    this.#close();
    // What comes next has a line of its own, and is not read as typed.
    if (started) this.#output.write(cutOff ? `${leaveScreen}${calm}\r\n` : calm);
  }
}
