import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { cloudProcess } from "./cloud-process.js";
import { engineIsThere } from "./engine.js";
import { listSkip } from "./skips.js";

// Containers show the same and have walls: plain processes are for machines without an engine, or when asked for.
if (engineIsThere && process.env.SANDKIT_TEST_ALL !== "1") {
  describe("conformance", () => it.skip("is shown in containers: SANDKIT_TEST_ALL=1 runs it here too"));
} else {
  await testProvider({
    provider: () => cloudProcess("local"),
    // These boxes have the network of this machine.
    cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
    skip: listSkip,
    // Programs are slow to start where many tests run.
    timeouts: { factor: 4 },
  });
}
