import { SandboxError } from "@sandkit/core";
import { openHandle, type Principal } from "./principal.js";

const remembered = 500;

/** Why sandboxes are gone: a handle that once lived is told apart from one that never did. */
export class EndedSandboxes {
  readonly #reasons = new Map<string, string>();
  #notice: string | undefined;

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

  /**
   * The id of the sandbox.
   * @throws SandboxError `NOT_FOUND` unless the handle was once given to this principal
   */
  idOf(principal: Principal, handle: string): string {
    const id = openHandle(principal, handle);
    if (id !== undefined) return id;
    throw new SandboxError(
      "NOT_FOUND",
      `there is no sandbox ${JSON.stringify(handle.slice(0, 100))}: copy the sandbox_id from a result or from list_sandboxes, or leave it out`,
    );
  }
}
