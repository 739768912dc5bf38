import { testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { engineIsThere, pythonImage } from "../../cloud-emulator/test/engine.js";
import { cloudProcess } from "./cloud-process.js";
import { listSkip } from "./skips.js";

/** What E2B and the link have a part in; the agent's own is shown by provider-docker, and here with SANDKIT_TEST_ALL=1. */
const groups = ["lifecycle", "files.watch"];

if (engineIsThere) {
  await testProvider({
    provider: () => cloudProcess("docker", pythonImage),
    only: process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups,
    skip: listSkip,
    timeouts: { factor: 4 },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
