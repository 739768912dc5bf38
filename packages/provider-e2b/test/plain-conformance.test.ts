import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { bareImage, engineIsThere } from "../../cloud-emulator/test/engine.js";
import { cloudProcess } from "./cloud-process.js";

if (engineIsThere) {
  await testProvider({
    provider: () => cloudProcess("docker", bareImage),
    cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
    timeouts: { factor: 6 },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
