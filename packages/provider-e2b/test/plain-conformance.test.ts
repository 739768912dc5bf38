import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { cloudProcess } from "./cloud-process.js";
import { engineIsThere, plainImage } from "./engine.js";

if (engineIsThere) {
  await testProvider({
    provider: () => cloudProcess("docker", plainImage),
    cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
    timeouts: { factor: 6 },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
