import { conformanceCases, runConformance } from "@sandkit/core/conformance";
import { describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";
import { mutants } from "./mutants/index.js";
import type { Mutant } from "./mutants/mutant.js";

/** Passes on every mutant: what the others then fail at is the defect, and not that no cell runs at all. */
const unaffected = "kernel.python.empty";

async function outcomes({ caughtBy, mutate }: Mutant) {
  const wanted = new Set([unaffected, ...caughtBy]);
  const cases = conformanceCases.filter(({ id }) => wanted.has(id));
  const scorecard = await runConformance({ provider: () => mutate(wasm()), cases });
  return Object.fromEntries(scorecard.cases.map(({ id, outcome }) => [id, outcome]));
}

/** That the same cases pass without a defect is shown by conformance.test.ts. */
describe("the suite and defects seeded in kernels", () => {
  it("has every case that a mutant names, and every mutant once", () => {
    const known = new Set(conformanceCases.map(({ id }) => id));
    expect(mutants.flatMap(({ caughtBy }) => caughtBy).filter((id) => !known.has(id))).toEqual([]);
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
    expect(mutants.filter(({ caughtBy }) => caughtBy.length === 0)).toEqual([]);
  });

  for (const mutant of mutants) {
    it(`catches ${mutant.id}: ${mutant.description}`, { timeout: 120_000 }, async () => {
      const failed = Object.fromEntries(mutant.caughtBy.map((id) => [id, "failed"]));
      expect(await outcomes(mutant)).toEqual({ [unaffected]: "passed", ...failed });
    });
  }
});
