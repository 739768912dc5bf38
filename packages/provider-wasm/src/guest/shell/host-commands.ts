import type { ExecResult, ResolvedCommandContext } from "just-bash";
import type { HostCommandResult } from "../../protocol.js";
import { ask } from "./broker.js";

/** Has the caller's process carry out a command, and waits for its end. */
export async function runHostCommand(
  argv: readonly string[],
  { cwd }: Pick<ResolvedCommandContext, "cwd">,
): Promise<ExecResult> {
  return ask<HostCommandResult>("command", [argv, cwd]);
}
