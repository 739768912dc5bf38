import type { SandboxInfo } from "@sandkit/core";
import { chooseProvider } from "./choose-provider.js";
import type { Invocation } from "./command.js";
import { sandboxTable } from "./sandbox-table.js";
import { UsageError } from "./usage-error.js";

/** `sandkit ls`: the living sandboxes as a table; resolves with the exit code. */
export async function listSandboxes({ values }: Invocation): Promise<number> {
  const labels = parseLabel(values.label);
  const { provider } = await chooseProvider(values);
  const found: SandboxInfo[] = [];
  for await (const info of provider.list({ labels })) found.push(info);
  found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  if (values.json) process.stdout.write(`${JSON.stringify({ provider: provider.name, sandboxes: found })}\n`);
  else process.stdout.write(sandboxTable(found));
  if (!values.json && found.length === 0 && process.stderr.isTTY)
    process.stderr.write(`none lives (${provider.name})\n`);
  return 0;
}

function parseLabel(value: string | true | undefined): Record<string, string> | undefined {
  if (typeof value !== "string") return undefined;
  const at = value.indexOf("=");
  if (at > 0) return { [value.slice(0, at)]: value.slice(at + 1) };
  throw new UsageError(`option "--label" cannot be "${value}"`, [{ text: "a name and a value: --label task=42" }]);
}
