import type { Clock, ClockTimer } from "../../clock.js";
import type { CloudSandbox } from "./cloud-sandbox.js";
import type { Sandboxes } from "./sandboxes.js";

const minuteMs = 60_000;
/** What 0 means for the interval after which a sandbox is archived, in minutes. */
const longestArchiveMinutes = 43_200;

interface Due {
  readonly at: number;
  readonly act: () => Promise<void>;
}

/** Ends, stops, pauses and archives sandboxes when their time has come. */
export class Lifetimes {
  readonly #clock: Clock;
  readonly #sandboxes: Sandboxes;
  readonly #keepsAlive: (sandbox: CloudSandbox) => boolean;
  readonly #timers = new Map<CloudSandbox, ClockTimer>();

  /** @param keepsAlive Whether something other than requests counts as activity. */
  constructor(clock: Clock, sandboxes: Sandboxes, keepsAlive: (sandbox: CloudSandbox) => boolean) {
    this.#clock = clock;
    this.#sandboxes = sandboxes;
    this.#keepsAlive = keepsAlive;
  }

  /** Notes that something has changed that counts. */
  rearm(sandbox: CloudSandbox): void {
    this.#timers.get(sandbox)?.cancel();
    this.#timers.delete(sandbox);
    const next = this.#next(sandbox);
    if (next)
      this.#timers.set(
        sandbox,
        this.#clock.at(next.at, () => this.#check(sandbox)),
      );
  }

  async #check(sandbox: CloudSandbox): Promise<void> {
    if (this.#keepsAlive(sandbox)) sandbox.lastActivityAt = this.#clock.now();
    const next = this.#next(sandbox);
    if (next && next.at <= this.#clock.now()) await next.act();
    else this.rearm(sandbox);
  }

  #next(sandbox: CloudSandbox): Due | undefined {
    return dues(sandbox, this.#sandboxes).sort((a, b) => a.at - b.at)[0];
  }
}

function dues(sandbox: CloudSandbox, sandboxes: Sandboxes): Due[] {
  const { state, intervals, destroyAt, lastActivityAt, stoppedAt } = sandbox;
  if (state === "destroying" || state === "destroyed") return [];
  const found: Due[] = [];
  if (destroyAt !== undefined) found.push({ at: destroyAt, act: () => sandboxes.expire(sandbox) });
  if (state === "started" && intervals.autoStop > 0) {
    found.push({ at: lastActivityAt + intervals.autoStop * minuteMs, act: () => sandboxes.stop(sandbox) });
  }
  if (state === "started" && intervals.autoPause > 0) {
    found.push({ at: lastActivityAt + intervals.autoPause * minuteMs, act: () => sandboxes.pause(sandbox) });
  }
  if (state === "stopped" && stoppedAt !== undefined) {
    const minutes = intervals.autoArchive || longestArchiveMinutes;
    found.push({ at: stoppedAt + minutes * minuteMs, act: () => sandboxes.archive(sandbox) });
  }
  if (stoppedAt !== undefined && intervals.autoDelete > 0) {
    found.push({ at: stoppedAt + intervals.autoDelete * minuteMs, act: () => sandboxes.expire(sandbox) });
  }
  return found;
}
