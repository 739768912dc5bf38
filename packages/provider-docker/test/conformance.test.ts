import { testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { docker } from "../src/index.js";
import { engineIsThere, testImages } from "./engine.js";

if (engineIsThere) {
  // A container costs a quarter of a second of the processors, and a machine that tests may have few.
  await testProvider({ provider: () => docker({ images: testImages }), timeouts: { factor: 2 } });
} else {
  describe("conformance", () => it.skip("needs a container engine"));
}
