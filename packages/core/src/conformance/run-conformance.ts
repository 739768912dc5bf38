import type { Capabilities, Feature } from "../capabilities.js";
import type { Provider } from "../provider.js";
import { conformanceCases } from "./cases/index.js";
import type { ConformanceCase } from "./conformance-case.js";
import { ConformanceRun, type ConformanceTimeouts } from "./run.js";
import { type CaseResult, countOutcomes, type Scorecard } from "./scorecard.js";
import { checkSkips, type Skips, selectCases } from "./selection.js";

/** What is run on which provider. */
export interface ConformanceOptions {
  /** Makes the provider, once for the whole run. */
  readonly provider: () => Provider | Promise<Provider>;
  /** Reasons by case id. Unknown ids and empty reasons are `INVALID`; a skip of a case that passes fails it. */
  readonly skip?: Skips | undefined;
  /** Ids or groups, such as `exec` or `kill.timeout`; default: all. */
  readonly only?: readonly string[] | undefined;
  /** More time for a backend that is slow; default: what a local one needs. */
  readonly timeouts?: ConformanceTimeouts | undefined;
  /** Default: the whole suite. */
  readonly cases?: readonly ConformanceCase[] | undefined;
}

/**
 * Runs the suite, one case after another, and gives what it found.
 * @throws SandboxError `INVALID` for skips or selections that name no case
 */
export async function runConformance(
  options: ConformanceOptions & { readonly onCase?: ((result: CaseResult) => void) | undefined },
): Promise<Scorecard> {
  const all = options.cases ?? conformanceCases;
  const skip = options.skip ?? {};
  checkSkips(skip, all);
  const cases = selectCases(all, options.only);
  const provider = await options.provider();
  const run = new ConformanceRun(provider, skip, options.timeouts);
  try {
    const results: CaseResult[] = [];
    for (const subject of cases) {
      const result = await run.run(subject);
      results.push(result);
      options.onCase?.(result);
    }
    return toScorecard(provider, await run.capabilities(), cases, results);
  } finally {
    await run[Symbol.asyncDispose]();
  }
}

function toScorecard(
  provider: Provider,
  capabilities: Capabilities,
  cases: readonly ConformanceCase[],
  results: readonly CaseResult[],
): Scorecard {
  const counts = countOutcomes(results);
  return {
    provider: provider.name,
    isolation: capabilities.isolation,
    counts,
    cases: results,
    unproven: unprovenFeatures(capabilities, cases, results),
    ok: counts.passed > 0 && counts.failed === 0,
  };
}

/** Declared features that no passed case needed. */
export function unprovenFeatures(
  capabilities: Capabilities,
  cases: readonly ConformanceCase[],
  results: readonly CaseResult[],
): Feature[] {
  const passed = new Set(results.filter(({ outcome }) => outcome === "passed").map(({ id }) => id));
  const proven = new Set(cases.filter(({ id }) => passed.has(id)).flatMap(({ needs }) => needs));
  const declared = Object.entries(capabilities.features) as [Feature, unknown][];
  return declared.filter(([feature, support]) => support && !proven.has(feature)).map(([feature]) => feature);
}
