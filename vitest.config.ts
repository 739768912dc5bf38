import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Whole suites, which take minutes: begun last, they would run alone at the end. */
const long = /\/(?:[a-z-]*conformance|agent-[a-z]+|mutants)\.test\.ts$/;
/** Of all others, so many come after each of those, so that not all suites run at the same time. */
const between = 10;

class SpreadSuites extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const suites = sorted.filter(({ moduleId }) => long.test(moduleId));
    const others = sorted.filter(({ moduleId }) => !long.test(moduleId));
    return [...suites.flatMap((suite) => [suite, ...others.splice(0, between)]), ...others];
  }
}

/**
 * Left out where `npm test` has an engine, unless `SANDKIT_TEST_ALL=1` asks for it: the whole suite once more over plain
 * processes, where the same agent and the same clouds run it over containers; that over Daytona's containers, where the
 * same link is shown over E2B's; compilers in containers; and the suite against seeded defects, which tells of the suite
 * and not of a provider.
 */
const onlyWithAll = [
  "packages/core/test/remote/conformance.test.ts",
  "packages/provider-local/test/{agent-node,agent-python,conformance,mutants}.test.ts",
  "packages/provider-{e2b,daytona}/test/conformance.test.ts",
  "packages/provider-daytona/test/docker-conformance.test.ts",
  "packages/cli/test/languages.test.ts",
  "packages/provider-wasm/test/mutants.test.ts",
];
const leavesOut = process.env.SANDKIT_TEST_ENGINE === "1" && process.env.SANDKIT_TEST_ALL !== "1";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(leavesOut ? onlyWithAll : [])],
    // Built packages are run by Node itself, as their users run them; vite would read every module of theirs first.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: SpreadSuites },
    // One more than the processors of CI: a test waits for a part of its time, and may hold several sandboxes.
    maxWorkers: 3,
    // CI builds, boots and fills containers on two processors: what was late there is tried again, and told as retried.
    retry: process.env.CI ? 2 : 0,
  },
});
