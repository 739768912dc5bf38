import { testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { cloudProcess } from "./cloud-process.js";
import { engineIsThere, pythonImage } from "./engine.js";
import { listSkip } from "./skips.js";

if (engineIsThere) {
  await testProvider({
    provider: () => cloudProcess("docker", pythonImage),
    skip: listSkip,
    timeouts: { factor: 4 },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
