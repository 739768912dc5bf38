import { testProvider } from "@sandkit/core/conformance";
import { docker } from "@sandkit/provider-docker";
import { describe, it } from "vitest";
import { cloudProcess } from "./cloud-process.js";

/** The image that `images/` builds; `npm test` gives its name. */
const python = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const containers = docker({ images: { python }, pull: "never" });

const { ok, detail } = await containers.check();
if (!ok && process.env.CI) throw new Error(`CI has no container engine: this is never skipped there: ${detail}`);
if (ok) {
  await testProvider({
    provider: () => cloudProcess("docker", python),
    skip: {
      "network.allowlist": "E2B's lists of hosts have no ports, and this server listens on one: that is UNSUPPORTED",
    },
    timeouts: { factor: 4 },
  });
} else {
  console.warn(`SKIPPED: no container engine answers, so E2B is not tested over containers: ${detail}`);
  describe("conformance", () => it.skip("needs a container engine"));
}
