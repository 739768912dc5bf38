import { randomUUID } from "node:crypto";
import { deferred, type Sandbox, SandboxError } from "@sandkit/core";
import type { Config } from "../config.js";
import { traced } from "../observability/tracing.js";
import type { Run } from "../result/run-result.js";
import { terminalText } from "../result/terminal-text.js";
import { abridged } from "../result/text.js";
import type { Making } from "../sandbox-maker.js";
import type { Sandboxes, Used } from "../sandboxes.js";
import { finishRun } from "./finish-run.js";
import { installMissing } from "./install-missing.js";
import { RunLog } from "./run-log.js";
import type { RunInput, Work } from "./work.js";

/** What is held of the output as it came, in characters; the streams by themselves are kept up to the config's limit. */
const maxLogChars = 1024 * 1024;
/** How long a program must be silent for what it says to count as complete, in milliseconds. */
const silentMs = 250;

/** How a run came out: what it gave, or why it could not be run. */
export type Outcome = { readonly used: Used<Run> } | { readonly error: unknown };

export interface LiveRunOptions {
  readonly config: Config;
  /** The name of this server, where it is one of several: the handle tells it. */
  readonly replica?: string | undefined;
  readonly sandboxes: Sandboxes;
  readonly work: Work;
  readonly making: Omit<Making, "signal">;
  /** Where what the model must know before the answer is put. */
  readonly notices: string[];
  /** Told of every piece of output and of the end. */
  readonly onNews: (run: LiveRun) => void;
}

/** Work under way in a sandbox. It goes on whether or not a call waits for it, until its time limit. */
export class LiveRun {
  /** What the model calls it: `process`. */
  readonly id: string;
  readonly work: Work;
  readonly log: RunLog;
  readonly ended: Promise<Outcome>;
  /** Up to where the model has read. */
  cursor = 0;
  /** True once a call has answered with the handle. */
  yielded = false;
  /** True once a call has told its sandbox. */
  introduced = false;
  /** What the model must know before the next answer. */
  readonly notices: string[];
  #outcome: Outcome | undefined;
  #endedMs: number | undefined;
  #handle: string | undefined;
  readonly #input = deferred<RunInput>();
  #begun = false;
  /** Why it ends before its time, once it was asked to stop. */
  #stopReason: SandboxError | undefined;
  readonly #startedMs = performance.now();
  readonly #options: LiveRunOptions;
  /** What runs is to end. */
  readonly #end = new AbortController();
  /** Nobody waits for it either. */
  readonly #cancel = new AbortController();

  constructor(options: LiveRunOptions) {
    this.#options = options;
    const server = options.replica === undefined ? "" : `${options.replica}-`;
    this.id = `p-${server}${randomUUID().replaceAll("-", "").slice(-12)}`;
    this.work = options.work;
    this.notices = options.notices;
    this.log = new RunLog(Math.min(options.config.maxOutputBytes, maxLogChars));
    const attributes = { "sandkit.language": options.work.queue ?? "command" };
    this.ended = traced("run", { attributes }, () => this.#run()).then(
      (used) => this.#settle({ used }),
      (error: unknown) => this.#settle({ error }),
    );
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** The sandbox, once there is one. */
  get handle(): string | undefined {
    return this.#handle;
  }

  /** True when it takes input, now or once it has started. */
  get takesInput(): boolean {
    return this.#outcome === undefined && this.work.interactive === true;
  }

  /** The way to its stdin once it has started; undefined when it has not in so many milliseconds, or has ended. */
  async input(ms: number, signal: AbortSignal): Promise<RunInput | undefined> {
    return await Promise.race([this.#input.promise, this.settles(ms, signal).then(() => undefined)]);
  }

  /** True when it was asked to stop. */
  get stopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** True when it was stopped before its work had begun. */
  get neverBegan(): boolean {
    return this.stopped && !this.#begun && this.#outcome !== undefined && "error" in this.#outcome;
  }

  /** True while packages are installed that its work needs. */
  get installing(): boolean {
    return this.#handle !== undefined && !this.#begun && this.work.packages.length > 0;
  }

  /** What it is at, in a line: the latest that it has written. Undefined before it has begun. */
  get latest(): string | undefined {
    if (!this.#begun) return undefined;
    return abridged(terminalText(this.log.lastLine), 200) || "running";
  }

  /** Since it was asked for, in milliseconds. */
  get elapsedMs(): number {
    return (this.#endedMs ?? performance.now()) - this.#startedMs;
  }

  /** Ends what runs and keeps its sandbox; one that is still being made is not waited for. */
  stop(): void {
    this.#stopReason ??= new SandboxError("INVALID", "the run was stopped before it began");
    this.#end.abort(this.#stopReason);
    if (this.#handle === undefined) this.#cancel.abort(this.#stopReason);
  }

  /** Ends what runs because nobody will ask for it, and the sandbox if it was made for this call alone. */
  cancel(reason: unknown): void {
    this.#cancel.abort(reason);
    this.#end.abort(reason);
  }

  /** Waits until the run has ended, or for so many milliseconds, or until the signal aborts. True when it has ended. */
  async settles(ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.#outcome !== undefined || signal.aborted || ms <= 0) return this.#outcome !== undefined;
    let over: () => void = () => undefined;
    const waited = new Promise<void>((resolve) => {
      over = resolve;
    });
    const timer = setTimeout(over, Math.min(ms, 2_147_483_647));
    signal.addEventListener("abort", over, { once: true });
    try {
      await Promise.race([this.ended, waited]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
    }
    return this.#outcome !== undefined;
  }

  /** Waits for output after `cursor` and then for silence; at most for so many milliseconds, or until the end. */
  async replies(cursor: number, ms: number, signal: AbortSignal): Promise<void> {
    const until = performance.now() + ms;
    for (let seen = -1; performance.now() < until && !signal.aborted && this.#outcome === undefined; ) {
      const now = this.log.end;
      if (now > cursor && now === seen) return;
      seen = now;
      await this.settles(Math.min(silentMs, until - performance.now()), signal);
    }
  }

  async #run(): Promise<Used<Run>> {
    const { config, sandboxes, making, work } = this.#options;
    const used = {
      ...making,
      signal: this.#cancel.signal,
      packages: work.packages,
      interpreter: work.queue !== undefined,
    };
    return await sandboxes.use(work.sandboxId, used, async (sandbox, handle) => {
      this.#handle = handle;
      await installMissing(sandbox, work.packages, {
        timeoutMs: config.maxTimeoutSeconds * 1000,
        signal: this.#end.signal,
        onProgress: making.onProgress,
      });
      return await finishRun(sandbox, config, this.#cancel.signal, () => this.#work(sandbox));
    });
  }

  async #work(sandbox: Sandbox) {
    this.#begun = true;
    return await this.#options.work.run(sandbox, {
      signal: this.#end.signal,
      onOutput: (chunk) => {
        this.log.add(chunk);
        this.#options.onNews(this);
      },
      takesInput: (input) => {
        this.#input.resolve(input);
      },
    });
  }

  #settle(outcome: Outcome): Outcome {
    this.#outcome = outcome;
    this.#endedMs = performance.now();
    this.#options.onNews(this);
    return outcome;
  }
}
