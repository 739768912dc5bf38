import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "../errors.js";
import type { PortInfo, SandboxRef } from "../provider.js";
import { PortDoor } from "./port-door.js";

/** How long a server may take to end what was only a look. */
const leaveMs = 5_000;
const [firstLookMs, longestLookMs] = [20, 500];
/** Each is a listener of this machine, and may have many connections. */
const mostDoors = 64;

/** Between two that are told of use, in milliseconds. */
const tellUseMs = 1_000;

/** The box that doors lead to. */
export interface DoorPlace {
  /** Connects to a server in it; rejects while there is none. */
  readonly connect: (port: number) => Promise<Duplex>;
  /** Told while something passes. */
  readonly onUse: () => void;
}

/** The ports of one box that were asked for, each with one door. */
export class PortDoors {
  readonly #ref: SandboxRef;
  readonly #place: DoorPlace;
  readonly #doors = new Map<number, Promise<PortDoor>>();
  #usedAt = -tellUseMs;

  constructor(ref: SandboxRef, place: DoorPlace) {
    this.#ref = ref;
    this.#place = place;
  }

  /**
   * The way to a port from this machine; the same for each call.
   * @param waitMs How long something may take to listen there; 0: it is not looked whether something does.
   * @throws SandboxError `UNAVAILABLE` when nothing does in time; `INVALID` for what is no port; `QUOTA` for one too many
   */
  async open(port: number, waitMs = 0): Promise<PortInfo> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw this.#error("INVALID", `port ${port}: must be from 1 to 65535`);
    }
    if (waitMs > 0) await this.#wait(port, waitMs);
    if (this.#doors.size >= mostDoors && !this.#doors.has(port)) {
      const { id } = this.#ref;
      throw this.#error(
        "QUOTA",
        `port ${port} of sandbox ${id}: ${mostDoors} other ports of it are open: use one of them`,
      );
    }
    const door =
      this.#doors.get(port) ?? PortDoor.open({ dial: () => this.#place.connect(port), onUse: () => this.#use() });
    this.#doors.set(port, door);
    try {
      return (await door).info;
    } catch (error) {
      // Without a descriptor for it now, there may be one later.
      this.#doors.delete(port);
      throw error;
    }
  }

  close(): void {
    for (const door of this.#doors.values()) door.then((open) => open.close()).catch(() => undefined);
    this.#doors.clear();
  }

  #use(): void {
    if (performance.now() - this.#usedAt < tellUseMs) return;
    this.#usedAt = performance.now();
    this.#place.onUse();
  }

  async #wait(port: number, waitMs: number): Promise<void> {
    const end = performance.now() + waitMs;
    for (let look = firstLookMs; !(await this.#isAnswered(port)); look = Math.min(look * 2, longestLookMs)) {
      const left = end - performance.now();
      if (left <= 0) {
        const next = "start a server there, or wait longer for it";
        const { id } = this.#ref;
        throw this.#error("UNAVAILABLE", `port ${port} of sandbox ${id}: nothing listens after ${waitMs} ms: ${next}`);
      }
      await pause(Math.min(look, left));
    }
  }

  async #isAnswered(port: number): Promise<boolean> {
    try {
      leave(await this.#place.connect(port));
      return true;
    } catch (error) {
      if (error instanceof SandboxError && error.code === "UNAVAILABLE") return false;
      throw error;
    }
  }

  #error(code: "INVALID" | "UNAVAILABLE" | "QUOTA", message: string): SandboxError {
    const { provider, id: sandboxId } = this.#ref;
    return new SandboxError(code, message, { provider, operation: "port", sandboxId });
  }
}

/** Ends a connection without breaking it, which would end servers that are not ready for that. */
function leave(connection: Duplex): void {
  const timer = setTimeout(() => connection.destroy(), leaveMs);
  timer.unref();
  connection.once("close", () => clearTimeout(timer));
  connection.resume().end();
}
