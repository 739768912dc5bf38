import { testProvider } from "@sandkit/core/conformance";
import { docker } from "@sandkit/provider-docker";
import { afterAll, describe, it } from "vitest";
import { engineIsThere, pythonImage } from "../../cloud-emulator/test/engine.js";
import { emulated } from "./emulated.js";
import { containerSkips, listSkip } from "./skips.js";

/** What Daytona has a part in. */
const ownGroups = ["lifecycle", "capabilities", "network", "packages"];

if (engineIsThere) {
  const { provider, [Symbol.asyncDispose]: end } = await emulated({
    // Whoever asks for the whole network gets the engine's bridge.
    provider: docker({ images: { python: pythonImage }, unsafeBridge: true }),
    machine: { network: "full" },
  });
  afterAll(end);
  await testProvider({
    provider: () => provider,
    // What the agent does by itself is shown over the same link by provider-e2b; SANDKIT_TEST_ALL=1 runs it here too.
    only: process.env.SANDKIT_TEST_ALL === "1" ? undefined : ownGroups,
    timeouts: { factor: 4 },
    skip: { ...containerSkips, ...listSkip },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
