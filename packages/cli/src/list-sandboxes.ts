import type { SandboxInfo } from "@sandkit/core";
import { chooseProvider } from "./choose-provider.js";
import type { Invocation } from "./command.js";
import { paintFor } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** `sandkit ls`: the living sandboxes as a table; resolves with the exit code. */
export async function listSandboxes({ values }: Invocation): Promise<number> {
  const labels = parseLabel(values.label);
  const { provider } = await chooseProvider(values);
  const found: SandboxInfo[] = [];
  for await (const info of provider.list({ labels })) found.push(info);
  found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  if (values.json) process.stdout.write(`${JSON.stringify({ provider: provider.name, sandboxes: found })}\n`);
  else process.stdout.write(table(found));
  return 0;
}

function parseLabel(value: string | true | undefined): Record<string, string> | undefined {
  if (typeof value !== "string") return undefined;
  const at = value.indexOf("=");
  if (at > 0) return { [value.slice(0, at)]: value.slice(at + 1) };
  throw new UsageError(`option "--label" cannot be "${value}"`, [{ text: "a name and a value: --label task=42" }]);
}

function table(sandboxes: readonly SandboxInfo[]): string {
  const head = ["ID", "NAME", "TEMPLATE", "STATE", "AGE", "ENDS IN", "LABELS"];
  const rows = sandboxes.map((info) => [
    info.ref.id,
    info.name ?? "-",
    info.template ?? "-",
    info.state,
    span(Date.now() - info.createdAt.getTime()),
    info.expiresAt ? span(info.expiresAt.getTime() - Date.now()) : "-",
    Object.entries(info.labels)
      .map(([key, label]) => `${key}=${label}`)
      .join(" ") || "-",
  ]);
  const lines = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  const paint = paintFor(process.stdout);
  return lines
    .map((row, index) => {
      const text = row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd();
      return `${index === 0 ? paint("bold", text) : text}\n`;
    })
    .join("");
}

/** Names and labels are anybody's: a control character in one must not steer the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "\u{fffd}");
}

function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
