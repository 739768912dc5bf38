import { SandboxError } from "../errors.js";
import { ownerLabel, ownerState } from "../owner.js";
import type { ProviderSession } from "../provider.js";
import { isBeingMade } from "./being-made.js";
import { boxOf } from "./box-of.js";
import type { Fleet } from "./cloud.js";
import { infoOf, type Machine } from "./machine.js";
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

  constructor(fleet: Fleet<Found>, operation: "attach" | "create", signal: AbortSignal | undefined) {
    this.#fleet = fleet;
    this.#operation = operation;
    this.#signal = signal;
  }

  /** Another client of a machine; of a paused one, which this resumes. Its life is renewed once its agent has answered. */
  async join(found: Found): Promise<Joined> {
    const record = recordOf(found);
    const joined = await this.#open(found, record, this.#operation);
    if (joined === "ended") return this.#withoutAgent(found, record);
    // Its agent ends with the connection of who sets it up; that may take a minute.
    if (joined === "settingUp" && (await ownerState(record.owner)) === "dead") return "over";
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
    const why = woken === "later" ? "it is gone" : woken === "ended" ? "its agent has ended" : "it is being set up";
    const message = `sandbox ${found.id} could not be resumed: ${why}`;
    const details = { provider: this.#fleet.provider, operation: "resume", sandboxId: found.id };
    throw new SandboxError("UNAVAILABLE", message, { ...details, retryable: woken === "settingUp" });
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
    const startAgent = found.state === "paused" && box.pause?.keeps === "files";
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
  async #withoutAgent({ id }: Found, record: SandboxRecord): Promise<"settingUp" | "later" | "over"> {
    if (isBeingMade(record)) return "settingUp";
    // What this program made it has made to the end.
    if (record.owner === (await ownerLabel()) || (await ownerState(record.owner)) === "dead") return "over";
    const now = performance.now();
    const since = this.#without.get(id) ?? now;
    this.#without.set(id, since);
    return now - since < (this.#fleet.graceMs ?? defaultGraceMs) ? "later" : "over";
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
