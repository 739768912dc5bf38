import { testProvider } from "@sandkit/core/conformance";
import { docker } from "@sandkit/provider-docker";
import { afterAll, describe, it } from "vitest";
import { emulated } from "./emulated.js";
import { engineIsThere, pythonImage } from "./engine.js";
import { containerSkips, listSkip } from "./skips.js";

if (engineIsThere) {
  const { provider, [Symbol.asyncDispose]: end } = await emulated({
    provider: docker({ images: { python: pythonImage } }),
  });
  afterAll(end);
  await testProvider({
    provider: () => provider,
    timeouts: { factor: 4 },
    skip: {
      ...containerSkips,
      ...listSkip,
      "network.full": "containers of these tests have no network at all: conformance.test.ts has that of this machine",
    },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
