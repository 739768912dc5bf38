import type { Provider, SandboxInfo } from "@sandkit/core";
import { chooseProvider } from "./choose-provider.js";
import type { Invocation } from "./command.js";
import { withProgress } from "./progress.js";
import { sandboxTable } from "./sandbox-table.js";
import { parseSeconds } from "./seconds.js";

const defaultOlderThanMs = 60_000;

/** `sandkit gc`: removes what lost its owner; resolves with the exit code. */
export async function collectGarbage({ values }: Invocation): Promise<number> {
  const olderThanMs = parseSeconds("older-than", values["older-than"]) ?? defaultOlderThanMs;
  const dryRun = values["dry-run"] === true;
  const json = values.json === true;
  const { provider } = await chooseProvider(values);
  const what = `looking for sandboxes without an owner (${provider.name})`;
  const known = json ? new Map<string, SandboxInfo>() : await livingOf(provider);
  const refs = await withProgress(what, json, () => provider.reap({ olderThanMs, dryRun }));
  if (json) process.stdout.write(`${JSON.stringify({ provider: provider.name, dryRun, removed: refs })}\n`);
  else if (refs.length > 0) process.stdout.write(sandboxTable(refs.map((ref) => known.get(ref.id) ?? { ref })));
  // A dry run that finds nothing has said so, whoever reads.
  if (!json && (process.stderr.isTTY || dryRun)) {
    const verb = dryRun ? "would be removed" : "removed";
    process.stderr.write(`${refs.length} ${refs.length === 1 ? "sandbox" : "sandboxes"} ${verb}\n`);
  }
  return 0;
}

/** What can be said of a sandbox can be said only before it is removed. */
async function livingOf(provider: Provider): Promise<Map<string, SandboxInfo>> {
  const living = new Map<string, SandboxInfo>();
  if (provider.capabilities.features.list === false) return living;
  for await (const info of provider.list()) living.set(info.ref.id, info);
  return living;
}
