import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { docker } from "@sandkit/provider-docker";
import { afterAll, describe, it } from "vitest";
import { busyboxImage, engineIsThere } from "../../cloud-emulator/test/engine.js";
import { emulated } from "./emulated.js";
import { containerSkips } from "./skips.js";

if (engineIsThere) {
  const { provider, [Symbol.asyncDispose]: end } = await emulated({
    provider: docker(),
    machine: { image: busyboxImage },
    network: "record",
  });
  afterAll(end);
  await testProvider({
    provider: () => provider,
    cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
    timeouts: { factor: 6 },
    skip: { ...containerSkips },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
