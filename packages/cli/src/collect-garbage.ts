import { chooseProvider } from "./choose-provider.js";
import type { Invocation } from "./command.js";
import { withProgress } from "./progress.js";
import { parseSeconds } from "./seconds.js";

const defaultOlderThanMs = 60_000;

/** `sandkit gc`: removes what lost its owner; resolves with the exit code. */
export async function collectGarbage({ values }: Invocation): Promise<number> {
  const olderThanMs = parseSeconds("older-than", values["older-than"]) ?? defaultOlderThanMs;
  const dryRun = values["dry-run"] === true;
  const json = values.json === true;
  const { provider } = await chooseProvider(values);
  const what = `looking for sandboxes without an owner (${provider.name})`;
  const refs = await withProgress(what, json, () => provider.reap({ olderThanMs, dryRun }));
  if (json) process.stdout.write(`${JSON.stringify({ provider: provider.name, dryRun, removed: refs })}\n`);
  else for (const { id } of refs) process.stdout.write(`${id}\n`);
  if (!json && process.stderr.isTTY) {
    const verb = dryRun ? "would be removed" : "removed";
    process.stderr.write(`${refs.length} ${refs.length === 1 ? "sandbox" : "sandboxes"} ${verb}\n`);
  }
  return 0;
}
