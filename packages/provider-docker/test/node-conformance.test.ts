import { testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { docker } from "../src/index.js";
import { engineIsThere, testImages } from "./engine.js";

if (engineIsThere) {
  // Of the same name, so that every case runs over the agent in JavaScript.
  const images = { ...testImages, python: testImages.node };
  await testProvider({ provider: () => docker({ images }), timeouts: { factor: 2 } });
} else {
  describe("conformance", () => it.skip("needs a container engine"));
}
