import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { afterAll, describe, it } from "vitest";
import { emulated } from "./emulated.js";
import { engineIsThere } from "./engine.js";
import { containerSkips, listSkip } from "./skips.js";

// Containers show the same and have walls: plain processes are for machines without an engine, or when asked for.
if (engineIsThere && process.env.SANDKIT_TEST_ALL !== "1") {
  describe("conformance", () => it.skip("is shown in containers: SANDKIT_TEST_ALL=1 runs it here too"));
} else {
  const { provider, [Symbol.asyncDispose]: end } = await emulated();
  afterAll(end);
  await testProvider({
    provider: () => provider,
    // These boxes have the network of this machine.
    cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
    timeouts: { factor: 3 },
    skip: { ...containerSkips, ...listSkip },
  });
}
