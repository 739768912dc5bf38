import { SandboxError } from "@sandkit/core";
import { type Principal, verifyHandle } from "./principal.js";

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

  /** For a handle that verifies and is not alive. */
  reason(handle: string): string {
    return this.#reasons.get(handle) ?? "it ended, or the server was restarted";
  }

  /** @throws SandboxError `NOT_FOUND` unless the handle was once given to this principal */
  refuseUnknown(principal: Principal, handle: string): void {
    if (verifyHandle(principal, handle)) return;
    throw new SandboxError(
      "NOT_FOUND",
      `there is no sandbox ${JSON.stringify(handle.slice(0, 100))}: copy the sandbox_id from a result or from list_sandboxes, or leave it out`,
    );
  }
}
