import { SandboxError } from "@sandkit/core";
import type { Config } from "../config.js";
import { LiveRun, type LiveRunOptions } from "./live-run.js";

/** Ended runs that stay known, so that their result can be asked for. */
const maxEnded = 20;
/** Their output together, in bytes. */
const maxEndedBytes = 64 * 1024 * 1024;
/** Longest wait that a refused caller is told, in seconds. */
const maxRetrySeconds = 5;

/** The runs of one principal: those under way, counted against the cap, and the latest that a call has left behind. */
export class Runs {
  readonly #config: Config;
  readonly #replica: string | undefined;
  readonly #runs = new Map<string, LiveRun>();
  readonly #listeners = new Set<(run: LiveRun) => void>();

  /** @param replica The name of this server, where it is one of several. */
  constructor(config: Config, replica?: string) {
    this.#config = config;
    this.#replica = replica;
  }

  /** @throws SandboxError `RATE_LIMITED` at the cap, with when to try again */
  start(options: Omit<LiveRunOptions, "config" | "replica" | "onNews">): LiveRun {
    this.#checkRoom();
    const run = new LiveRun({
      ...options,
      config: this.#config,
      replica: this.#replica,
      onNews: (news) => this.#tell(news),
    });
    this.#runs.set(run.id, run);
    return run;
  }

  /** Those under way, and those that have ended since a call answered with their handle; the oldest first. */
  list(): LiveRun[] {
    return [...this.#runs.values()];
  }

  /** @throws SandboxError `NOT_FOUND` for a handle that is not, or no longer, known; `UNAVAILABLE` for another server's */
  find(id: string): LiveRun {
    const run = this.#runs.get(id);
    if (run !== undefined) return run;
    const [, elsewhere] = /^p-([a-z0-9-]{1,64})-[0-9a-f]{12}$/.exec(id) ?? [];
    if (elsewhere !== undefined && this.#replica !== undefined && elsewhere !== this.#replica) {
      throw new SandboxError(
        "UNAVAILABLE",
        `process ${id} belongs to the server "${elsewhere}", and this is "${this.#replica}": call again until "${elsewhere}" answers; what it has written to files can be read here`,
        { retryable: true },
      );
    }
    const known = this.list().map((other) => other.id);
    const next = known.length === 0 ? "none is known" : `known are ${known.slice(-10).join(", ")}`;
    throw new SandboxError(
      "NOT_FOUND",
      `there is no process ${JSON.stringify(id.slice(0, 100))} (${next}): copy the handle from the result that gave it; the latest ${maxEnded} that ended are kept, until the server ends`,
    );
  }

  /** A run whose outcome was told by the call that started it leaves nothing behind. */
  forget(run: LiveRun): void {
    this.#runs.delete(run.id);
  }

  /** Runs of the same kernel that were asked for before this one and have not ended. */
  ahead(run: LiveRun): LiveRun[] {
    if (run.work.queue === undefined || run.handle === undefined) return [];
    const runs = this.list();
    const earlier = runs.slice(0, runs.indexOf(run));
    return earlier.filter(
      (other) => other.outcome === undefined && other.handle === run.handle && other.work.queue === run.work.queue,
    );
  }

  /** Tells of output and ends; gives the way to stop listening. */
  onNews(listener: (run: LiveRun) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(run: LiveRun): void {
    if (run.outcome !== undefined) this.#dropOld();
    for (const listener of this.#listeners) listener(run);
  }

  #checkRoom(): void {
    const active = this.list().filter((run) => run.outcome === undefined);
    const max = this.#config.maxRuns;
    if (active.length < max) return;
    const remaining = active.map((run) => run.work.timeoutSeconds - run.elapsedMs / 1000);
    const seconds = Math.max(1, Math.min(maxRetrySeconds, Math.ceil(Math.min(...remaining))));
    throw new SandboxError(
      "RATE_LIMITED",
      `busy: ${active.length === 1 ? "1 run of yours is" : `${active.length} runs of yours are`} under way, which is the most (maxRuns of the config): retry in ${seconds} s, or stop one with process: ${active.map(({ id }) => id).join(", ")}`,
      { retryAfterMs: seconds * 1000 },
    );
  }

  #dropOld(): void {
    const ended = this.list().filter((run) => run.outcome !== undefined && run.yielded);
    let bytes = ended.reduce((sum, run) => sum + sizeOf(run), 0);
    for (const [index, run] of ended.entries()) {
      if (ended.length - index <= maxEnded && bytes <= maxEndedBytes) return;
      if (index === ended.length - 1) return;
      bytes -= sizeOf(run);
      this.#runs.delete(run.id);
    }
  }
}

function sizeOf({ log, outcome }: LiveRun): number {
  const kept = outcome !== undefined && "used" in outcome ? outcome.used.result.ended : undefined;
  return log.held + (kept === undefined ? 0 : kept.stdout.bytes.length + kept.stderr.bytes.length);
}
