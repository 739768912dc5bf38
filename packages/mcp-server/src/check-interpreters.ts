import { SandboxError } from "@sandkit/core";
import type { HeldSandbox } from "./held-sandbox.js";

/**
 * Variables live in one server: another must not make new ones unseen, nor the same one after a restart.
 * @throws SandboxError `UNAVAILABLE` where they belong to another
 */
export function checkInterpreters(
  held: HeldSandbox,
  replica: string,
  onNotice: ((message: string) => void) | undefined,
): void {
  if (held.home !== undefined && held.home !== replica) {
    throw new SandboxError(
      "UNAVAILABLE",
      `the interpreters of sandbox ${held.handle}, with their variables, belong to the server "${held.home}", and this is "${replica}": call again until "${held.home}" answers, work with exec and files here, or make another with create_sandbox`,
      { retryable: true },
    );
  }
  if (!held.stateUntold) return;
  held.stateUntold = false;
  onNotice?.("Note: the server was restarted. Variables of before are lost; files are kept.");
}
