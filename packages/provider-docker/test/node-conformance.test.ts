import { testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { engineIsThere, testImages } from "./engine.js";
import { dockerWithImage } from "./plain-provider.js";

// The agent in JavaScript, for images without Python.
if (engineIsThere) {
  await testProvider({ provider: () => dockerWithImage(testImages.node), timeouts: { factor: 2 } });
} else {
  describe("conformance", () => it.skip("needs a container engine"));
}
