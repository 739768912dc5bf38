import { SandboxError } from "../errors.js";
import { ownerLabel, ownerState } from "../owner.js";
import type { ProviderSession } from "../provider.js";
import { isBeingMade } from "./being-made.js";
import { boxOf } from "./box-of.js";
import type { Fleet } from "./cloud.js";
import { infoOf, isAlive, type Machine } from "./machine.js";
import { PausedSession } from "./paused-session.js";
import type { SandboxRecord } from "./record.js";
import { joinRemote, type RemoteSession } from "./remote-session.js";

const defaultGraceMs = 30_000;

/**
 * What came of a try: a session; `settingUp` while somebody makes it; `later` where it is to be looked for again, as it
 * is about to come or to go; `over` when its agent has ended.
 */
export type Joined = RemoteSession | "settingUp" | "later" | "over";

/** Joins machines that others have made, or this program before. */
export class JoinMachine<Found extends Machine> {
  readonly #fleet: Fleet<Found>;
  readonly #operation: "attach" | "create";
  readonly #signal: AbortSignal | undefined;
  /** Since when a machine was seen without an agent, by its id. */
  readonly #without = new Map<string, number>();
  /** Since when one was found and not reached. */
  readonly #unreached = new Map<string, number>();
  /** Those whose agents end with each pause: somebody may have woken one just now, and be about to start the next agent. */
  readonly #restWithout = new Set<string>();

  constructor(fleet: Fleet<Found>, operation: "attach" | "create", signal: AbortSignal | undefined) {
    this.#fleet = fleet;
    this.#operation = operation;
    this.#signal = signal;
  }

  /**
   * Another client of a machine; of a paused one, which this resumes. Its life is renewed once its agent has answered.
   * @throws SandboxError `UNAVAILABLE` for one that is there, and was not reached for as long as that may take
   */
  async join(found: Found): Promise<Joined> {
    const record = recordOf(found);
    const joined = await this.#open(found, record, this.#operation);
    if (joined === "later" && this.#isPast(this.#unreached, found)) {
      throw this.#error("UNAVAILABLE", this.#operation, found, "is there but was not reached: try again in a moment");
    }
    if (joined === "ended") return this.#withoutAgent(found, record);
    // Its agent ends with the connection of who sets it up; that may take a minute.
    if (joined === "settingUp" && (await ownerState(record.owner)) === "dead") return this.#overOrWoken(found);
    return joined;
  }

  /** The session of a paused one, which stays so until it is resumed. */
  asleep(found: Found): ProviderSession {
    const record = recordOf(found);
    const { provider, usualWorkdir } = this.#fleet;
    const { id } = found;
    return new PausedSession({
      ref: { provider, id },
      workdir: record.workdir ?? usualWorkdir,
      capabilities: this.#fleet.capabilitiesOf(found),
      native: this.#fleet.nativeOf?.(found),
      info: async () => infoOf(record, await this.#fleet.find(id, "info"), "attached"),
      destroy: () => this.#fleet.remove(found, "destroy"),
      wake: () => this.#wake(found, record),
    });
  }

  async #wake(found: Found, record: SandboxRecord): Promise<ProviderSession> {
    const woken = await this.#open(found, record, "resume");
    if (typeof woken !== "string") return woken;
    // What was not reached may be gone, or on its way to somewhere else.
    const now = woken === "later" ? await this.#fleet.find(found.id, "resume") : found;
    if (!now || !isAlive(now)) throw this.#error("NOT_FOUND", "resume", found, "is gone: create a new one");
    if (woken === "ended")
      throw this.#error("NOT_FOUND", "resume", found, "has ended with its agent: create a new one");
    const why = woken === "settingUp" ? "is being set up" : "was not reached";
    throw this.#error("UNAVAILABLE", "resume", found, `${why}: try again in a moment`);
  }

  #error(code: "NOT_FOUND" | "UNAVAILABLE", operation: string, { id }: Found, what: string): SandboxError {
    const retryable = code === "UNAVAILABLE";
    const { provider } = this.#fleet;
    return new SandboxError(code, `sandbox ${id} ${what}`, { provider, operation, sandboxId: id, retryable });
  }

  async #open(
    found: Found,
    record: SandboxRecord,
    operation: string,
  ): Promise<RemoteSession | "later" | "settingUp" | "ended"> {
    const signal = operation === "resume" ? undefined : this.#signal;
    const reached = await this.#fleet.reach(found, operation, signal);
    if (!reached) return "later";
    const box = boxOf({ fleet: this.#fleet, found: reached, record, origin: "attached" });
    // What was stopped has no agent any more; whoever wakes it starts the next.
    const restsWithout = box.pause?.keeps === "files";
    if (restsWithout) this.#restWithout.add(found.id);
    const startAgent = found.state === "paused" && restsWithout;
    const { leaseMs } = this.#fleet;
    const { detached } = record;
    const ends = startAgent ? { ttlMs: restOf(record), idleMs: record.idleMs } : {};
    try {
      return await joinRemote(box, { origin: "attached", leaseMs, detached, startAgent, signal, ...ends });
    } catch (error) {
      if (error instanceof SandboxError && error.code === "SANDBOX_LOST") return "later";
      throw error;
    }
  }

  /** Nobody has started it yet, or it has ended. */
  async #withoutAgent(found: Found, record: SandboxRecord): Promise<"settingUp" | "later" | "over"> {
    if (isBeingMade(record)) return "settingUp";
    // What this program made it has made to the end.
    const isMade = record.owner === (await ownerLabel()) || (await ownerState(record.owner)) === "dead";
    if (isMade) return this.#overOrWoken(found);
    return this.#afterGrace(found);
  }

  /** Nobody makes it any more, but somebody may wake it: only time tells that nobody does. */
  #overOrWoken(found: Found): "later" | "over" {
    return this.#restWithout.has(found.id) ? this.#afterGrace(found) : "over";
  }

  #afterGrace(found: Found): "later" | "over" {
    return this.#isPast(this.#without, found) ? "over" : "later";
  }

  /** Whether a machine has been so for as long as it may. */
  #isPast(seen: Map<string, number>, { id }: Found): boolean {
    const now = performance.now();
    const since = seen.get(id) ?? now;
    seen.set(id, since);
    return now - since >= (this.#fleet.graceMs ?? defaultGraceMs);
  }
}

function recordOf({ id, record }: Machine): SandboxRecord {
  if (record) return record;
  throw new Error(`machine ${id} has no record`);
}

/** What is left of the end that it was made with. */
function restOf({ createdAt, ttlMs }: SandboxRecord): number | undefined {
  return ttlMs === undefined ? undefined : Math.max(1, createdAt.getTime() + ttlMs - Date.now());
}
