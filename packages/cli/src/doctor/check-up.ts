import { setTimeout as sleep } from "node:timers/promises";
import type { CheckResult } from "@sandkit/core";
import { type LoadedConfig, ProviderSource } from "@sandkit/mcp-server/choose";

/** A backend that has said nothing for this long is not usable, in milliseconds. */
const patienceMs = 20_000;

/** What is known of one provider. */
export interface Checkup {
  readonly provider: string;
  readonly ok: boolean;
  /** What was found, or what was tried and is wrong. */
  readonly detail: string;
  /** What was found out on the way, each by a short name; absent: nothing more. */
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** What to do about it, the best first. */
  readonly fix: readonly string[];
}

/** Asks one provider, with the options of the config where they are its own. Never rejects. */
export async function checkUp(name: string, { config, path }: LoadedConfig): Promise<Checkup> {
  const own = name === config.provider ? config : { ...config, provider: name, options: {} };
  try {
    const provider = await new ProviderSource(own, path).get();
    const { ok, detail, facts, fix = [] } = await Promise.race([provider.check(), silence()]);
    await provider.close?.();
    return { provider: name, ok, detail: withoutAdvice(detail, fix), facts, fix };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const install = error instanceof Error && "install" in error ? [String(error.install)] : [];
    return { provider: name, ok: false, detail, fix: install };
  }
}

/** Errors end with what to do, which stands by itself here: word for word, or by the variable that is to be set. */
function withoutAdvice(detail: string, fix: readonly string[]): string {
  if (fix.length === 0) return detail;
  const advice = `: ${fix.join("; or ")}`;
  if (detail.endsWith(advice)) return detail.slice(0, -advice.length);
  const [found, variable] = /: set ([A-Z][A-Z0-9_]+)\b/.exec(detail) ?? [];
  if (found === undefined || variable === undefined) return detail;
  return fix.some((text) => text.includes(variable)) ? detail.slice(0, detail.indexOf(found)) : detail;
}

async function silence(): Promise<CheckResult> {
  // The timer must not keep a command alive that has its answer.
  await sleep(patienceMs, undefined, { ref: false });
  return { ok: false, detail: `no answer in ${patienceMs / 1000} s`, fix: ["check that its backend can be reached"] };
}
