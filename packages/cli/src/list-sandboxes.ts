import { chooseProvider } from "./choose-provider.js";
import type { Invocation } from "./command.js";
import { livingOf } from "./live/find-sandbox.js";
import { parsePairs } from "./pairs.js";
import { sandboxTable } from "./sandbox-table.js";

/** `sandkit ls`: the living sandboxes as a table; resolves with the exit code. */
export async function listSandboxes({ values, every }: Invocation): Promise<number> {
  const labels = every.label && parsePairs("label", every.label);
  const { provider } = await chooseProvider(values);
  const found = await livingOf(provider, labels);
  if (values.json) process.stdout.write(`${JSON.stringify({ provider: provider.name, sandboxes: found })}\n`);
  else process.stdout.write(sandboxTable(found));
  if (!values.json && found.length === 0 && process.stderr.isTTY)
    process.stderr.write(`none lives (${provider.name})\n`);
  return 0;
}
