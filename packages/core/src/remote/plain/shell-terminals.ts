import { SandboxError } from "../../errors.js";
import { Turns } from "../../turns.js";
import type { GuestWay } from "../remote-guest.js";
import type { PreludeOwner } from "../start-link.js";
import type { Terminal } from "../terminal.js";
import { type IsPaused, ShellTerminal } from "./shell-terminal.js";

/** As many are kept for the next programs as are usually wanted at one time. */
const mostIdle = 3;
/** A vendor's machine answers for its terminals one after another. */
const opensAtOneTime = 4;
const startMs = 30_000;

/** What a terminal is taken for. */
export interface TakeOptions {
  /** Others that wait for one do not hold it up. */
  readonly isUrgent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The terminals of a box that our relays are on: one for each program, and some for the next ones. */
export class ShellTerminals implements GuestWay {
  readonly stalled = false;
  readonly #make: () => Terminal;
  readonly #owner: PreludeOwner;
  readonly #isPaused: IsPaused;
  readonly #idle: ShellTerminal[] = [];
  readonly #busy = new Set<ShellTerminal>();
  readonly #turns = new Turns(opensAtOneTime);
  readonly #urgentTurns = new Turns(opensAtOneTime);
  #failure: SandboxError | undefined;

  constructor(make: () => Terminal, owner: PreludeOwner, isPaused: IsPaused) {
    this.#make = make;
    this.#owner = owner;
    this.#isPaused = isPaused;
  }

  /** One that runs nothing. @throws SandboxError as `startShell` does, and once it is closed */
  async take({ signal, isUrgent = false }: TakeOptions = {}): Promise<ShellTerminal> {
    if (this.#failure) throw this.#failure;
    const turns = isUrgent ? this.#urgentTurns : this.#turns;
    // While it waited, another may have come free.
    const shell = this.#kept() ?? (await turns.run(signal, async () => this.#kept() ?? this.#open(signal)));
    this.#busy.add(shell);
    return shell;
  }

  /** One that was taken, and whether it can be used on. */
  giveBack(shell: ShellTerminal, usable: boolean): void {
    this.#busy.delete(shell);
    if (usable && !this.#failure && this.#idle.length < mostIdle) this.#idle.push(shell);
    else shell.end().catch(() => undefined);
  }

  /** Lets go of the terminals of a box that is about to be paused. */
  async suspend(): Promise<void> {
    await Promise.all([...this.#busy].map((shell) => shell.suspend()));
    await Promise.all(this.#idle.splice(0).map((shell) => shell.end()));
  }

  /** Goes on with those that still run something. */
  async resume(): Promise<boolean> {
    await Promise.all([...this.#busy].map((shell) => shell.resume()));
    return true;
  }

  /** A connection that breaks meanwhile is made again. */
  whileCopied<Result>(copy: () => Promise<Result>): Promise<Result> {
    return copy();
  }

  /** Ends them all; none is opened any more. */
  async close(failure: SandboxError): Promise<void> {
    this.#failure ??= failure;
    await Promise.all([...this.#busy, ...this.#idle.splice(0)].map((shell) => shell.end()));
  }

  #kept(): ShellTerminal | undefined {
    for (let shell = this.#idle.pop(); shell; shell = this.#idle.pop()) if (!shell.failure) return shell;
    return undefined;
  }

  async #open(signal: AbortSignal | undefined): Promise<ShellTerminal> {
    const limit = AbortSignal.timeout(startMs);
    try {
      const both = signal ? AbortSignal.any([signal, limit]) : limit;
      return await ShellTerminal.open(this.#make(), this.#owner, this.#isPaused, both);
    } catch (error) {
      signal?.throwIfAborted();
      if (!limit.aborted) throw error;
      const { provider, sandboxId } = this.#owner;
      const message = `no shell answered on a terminal of sandbox ${sandboxId} within ${startMs / 1000} s`;
      throw new SandboxError("UNAVAILABLE", message, { provider, sandboxId, operation: "exec", cause: error });
    }
  }
}
