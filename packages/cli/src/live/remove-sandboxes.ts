import { createInterface } from "node:readline/promises";
import { attachSandbox, type Provider, SandboxError, type SandboxInfo } from "@sandkit/core";
import { chooseProvider } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { CommandError } from "../command-error.js";
import { parsePairs } from "../pairs.js";
import { printable } from "../printable.js";
import { reportError } from "../report-error.js";
import { sandboxTable } from "../sandbox-table.js";
import { UsageError } from "../usage-error.js";
import { livingOf, pick, requireReachable } from "./find-sandbox.js";

/** `sandkit rm`: ends sandboxes with all that is in them; resolves with the exit code. */
export async function removeSandboxes(invocation: Invocation): Promise<number> {
  const { values, every, positionals } = invocation;
  const all = values.all === true;
  if (all === positionals.length > 0) {
    throw new UsageError(all ? "both --all and sandboxes are named" : "nothing is named", [
      { text: "some", command: "sandkit rm REF…" },
      { text: "or all", command: "sandkit rm --all" },
    ]);
  }
  const { provider } = await chooseProvider(values);
  requireReachable(provider);
  const living = await livingOf(provider, every.label && parsePairs("label", every.label));
  if (all) return (await agreed(living, values, provider)) ? await removeEach(provider, living, values) : 1;
  // One that is not there does not keep the others.
  const failures: unknown[] = [];
  const meant = new Set<SandboxInfo>();
  for (const reference of positionals) {
    try {
      meant.add(pick(living, reference, provider.name));
    } catch (error) {
      failures.push(error);
    }
  }
  return await removeEach(provider, [...meant], values, failures);
}

async function agreed(
  living: readonly SandboxInfo[],
  values: Invocation["values"],
  provider: Provider,
): Promise<boolean> {
  if (living.length === 0 || values.yes) return true;
  const count = `${living.length} ${living.length === 1 ? "sandbox" : "sandboxes"} (${provider.name})`;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError("INVALID", 2, `this would remove ${count}, and nobody is there to be asked`, [
      { text: "say so", command: "sandkit rm --all --yes" },
      { text: "see which", command: "sandkit ls" },
    ]);
  }
  process.stderr.write(sandboxTable(living));
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`remove ${count}? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

async function removeEach(
  provider: Provider,
  meant: readonly SandboxInfo[],
  values: Invocation["values"],
  failures: unknown[] = [],
): Promise<number> {
  const removed: SandboxInfo["ref"][] = [];
  for (const { ref } of meant) {
    try {
      await remove(provider, ref);
      removed.push(ref);
      if (!values.json) process.stdout.write(`${ref.id}\n`);
    } catch (error) {
      // Not detached: it ends with a program that lives.
      if (values.all && error instanceof SandboxError && error.code === "UNSUPPORTED")
        process.stderr.write(`left alone  ${printable(error.message)}\n`);
      else failures.push(error);
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ provider: provider.name, removed })}\n`);
  // Who wants one gone needs no other.
  const codes = failures.map((error) => reportError(error, values.json === true, () => []));
  return Math.max(0, ...codes);
}

/** One that ended meanwhile is gone, which is what was asked for. */
async function remove(provider: Provider, ref: SandboxInfo["ref"]): Promise<void> {
  try {
    const sandbox = await attachSandbox(provider, ref);
    await sandbox.destroy();
  } catch (error) {
    if (!(error instanceof SandboxError && error.code === "NOT_FOUND")) throw error;
  }
}
