import { conformanceCases } from "./cases/index.js";
import { ConformanceRun } from "./run.js";
import { type ConformanceOptions, unprovenFeatures } from "./run-conformance.js";
import type { CaseResult } from "./scorecard.js";
import { checkSkips, selectCases } from "./selection.js";

/**
 * Registers the suite with vitest, one test per case, run one after another. To be awaited at the top of a test file.
 * A case that does not apply shows as skipped with what is missing. A skip must name a case, say why, and still be
 * needed: the case is run and must fail.
 * @throws SandboxError `INVALID` for skips or selections that name no case
 */
export async function testProvider(options: ConformanceOptions): Promise<void> {
  const { afterAll, beforeAll, describe, it } = await import("vitest");
  const all = options.cases ?? conformanceCases;
  checkSkips(options.skip ?? {}, all);
  const cases = selectCases(all, options.only);
  describe.sequential("conformance", () => {
    const results: CaseResult[] = [];
    let run: ConformanceRun;
    beforeAll(async () => {
      run = new ConformanceRun(await options.provider(), options.skip, options.timeouts);
    });
    afterAll(() => run[Symbol.asyncDispose]());

    for (const subject of cases) {
      // The run has its own limit per case, and needs some time to clean up after it.
      it(`${subject.id}: ${subject.title}`, { timeout: 0 }, async (test) => {
        const result = await run.run(subject);
        results.push(result);
        if (result.outcome === "failed") throw result.error;
        if (result.outcome !== "passed") test.skip(`${result.outcome}: ${result.reason}`);
      });
    }

    it("proves something, and every feature that it has cases for and that is declared", async () => {
      if (!results.some(({ outcome }) => outcome === "passed")) throw new Error("no case passed: this proves nothing");
      if (options.only) return;
      const covered = new Set(cases.flatMap(({ needs }) => needs));
      const unproven = unprovenFeatures(await run.capabilities(), cases, results).filter((name) => covered.has(name));
      if (unproven.length > 0) throw new Error(`declared, but no passing case proves it: ${unproven.join(", ")}`);
    });
  });
}
