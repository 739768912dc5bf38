import { type LoadedConfig, providerNames } from "@sandkit/mcp-server/choose";
import { configOf, mistyped } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { paintFor } from "../terminal.js";
import { version } from "../version.js";
import { type Checkup, checkUp } from "./check-up.js";
import { redact } from "./redact.js";

/** `sandkit doctor`: asks providers whether they can be used; resolves with the exit code. */
export async function checkProviders({ values, every, positionals }: Invocation): Promise<number> {
  const { provider: _, ...others } = values;
  const loaded = await configOf(others);
  const named = [...new Set([...positionals, ...(every.provider ?? [])])];
  for (const name of named) {
    const error = mistyped(name);
    if (error) throw error;
  }
  const usual = loaded.config.provider;
  const asked = named.length > 0 ? named : [...new Set([usual, ...providerNames])];
  const checkups = await Promise.all(asked.map((name) => checkUp(name, loaded)));
  const wanted = named.length > 0 ? checkups : checkups.filter(({ provider }) => provider === usual);
  const ok = wanted.every((checkup) => checkup.ok);
  const place = { sandkit: version, node: process.versions.node, platform: `${process.platform} ${process.arch}` };
  if (values.json) {
    const config = loaded.path ?? null;
    const data = { ok, ...place, config, default: usual, providers: checkups };
    process.stdout.write(`${redact(JSON.stringify(data))}\n`);
  } else process.stdout.write(redact(page(checkups, loaded, place)));
  return ok ? 0 : 1;
}

function page(checkups: readonly Checkup[], loaded: LoadedConfig, place: Readonly<Record<string, string>>): string {
  const paint = paintFor(process.stdout);
  const { path, config } = loaded;
  const width = Math.max(...checkups.map(({ provider }) => provider.length), "sandkit".length);
  const margin = " ".repeat(width + 7);
  const lines = [
    `${"sandkit".padEnd(width)}  ${place.sandkit}, Node ${place.node}, ${place.platform}`,
    `${"config".padEnd(width)}  ${path ?? "none"}; provider ${config.provider} by default`,
    "",
  ];
  for (const { provider, ok, detail, facts = {}, fix } of checkups) {
    const [first = "", ...more] = detail.split("\n");
    lines.push(`${provider.padEnd(width)}  ${ok ? paint("green", "yes") : paint("red", "no ")}  ${first}`);
    lines.push(...more.map((line) => margin + line), ...factLines(facts, margin));
    lines.push(...fix.map((text, index) => `${margin}${index === 0 ? paint("green", "fix") : " or"}  ${text}`));
  }
  return `${lines.join("\n")}\n`;
}

function factLines(facts: Readonly<Record<string, string>>, margin: string): string[] {
  const width = Math.max(0, ...Object.keys(facts).map((name) => name.length));
  return Object.entries(facts).map(([name, text]) => `${margin}${name.padEnd(width)}  ${text}`);
}
