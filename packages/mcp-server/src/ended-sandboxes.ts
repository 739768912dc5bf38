import { SandboxError } from "@sandkit/core";
import type { Config } from "./config.js";
import type { HeldSandbox } from "./held-sandbox.js";
import { openHandle, type Principal } from "./principal.js";

const remembered = 500;

export interface EndedSandboxesOptions {
  readonly config: Config;
  readonly principal: Principal;
  readonly implicit: "default" | "fresh";
  /** Unused for this long a sandbox ends, in milliseconds. */
  readonly idleMs: number;
}

/** Why sandboxes are gone: a handle that once lived is told apart from one that never did. */
export class EndedSandboxes {
  readonly #reasons = new Map<string, string>();
  readonly #options: EndedSandboxesOptions;
  #notice: string | undefined;

  constructor(options: EndedSandboxesOptions) {
    this.#options = options;
  }

  add(entry: { readonly handle: string; readonly origin: string }, reason: string): void {
    this.#reasons.set(entry.handle, reason);
    const [oldest] = this.#reasons.keys();
    if (this.#reasons.size > remembered && oldest !== undefined) this.#reasons.delete(oldest);
    if (entry.origin !== "default") return;
    this.#notice = `Note: the earlier default sandbox is gone (${reason}). Its files and variables are lost; this ran in a new one.`;
  }

  /** Said once, by the first call that runs in the next default sandbox. */
  takeNotice(): string | undefined {
    const notice = this.#notice;
    this.#notice = undefined;
    return notice;
  }

  /** Why it ended, where that is known here. */
  reason(handle: string): string | undefined {
    return this.#reasons.get(handle);
  }

  /** Why a sandbox that ended unseen did so, as far as can be told from here. */
  guess(held: HeldSandbox): string {
    const { config, idleMs } = this.#options;
    if (!config.detached || held.origin === "default") return "it ended by itself";
    if (held.unusedMs >= idleMs) return this.#idle;
    return "another server or program destroyed it, or its host ended it";
  }

  /** What a call with the handle of one that is gone is answered. */
  expired(handle: string): SandboxError {
    const { config, implicit } = this.#options;
    const unknown = config.detached
      ? `${this.#idle}, was destroyed, or its host was restarted`
      : "it has ended, or the server was restarted and its sandboxes ended with it";
    const other = implicit === "default" ? "leave sandbox_id out to use the default sandbox, or " : "";
    return new SandboxError(
      "EXPIRED",
      `sandbox ${handle} is gone (${this.reason(handle) ?? unknown}), with its files and variables: ${other}make one with create_sandbox and set it up again`,
    );
  }

  /**
   * The id of the sandbox.
   * @throws SandboxError `NOT_FOUND` unless the handle was once given to this principal
   */
  idOf(handle: string): string {
    const id = openHandle(this.#options.principal, handle);
    if (id !== undefined) return id;
    throw new SandboxError(
      "NOT_FOUND",
      `there is no sandbox ${JSON.stringify(handle.slice(0, 100))}: copy the sandbox_id from a result or from list_sandboxes, or leave it out`,
    );
  }

  get #idle(): string {
    return `it was not used for ${this.#options.idleMs / 1000} s`;
  }
}
