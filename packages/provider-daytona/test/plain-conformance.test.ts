import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { docker } from "@sandkit/provider-docker";
import { afterAll, describe, it } from "vitest";
import { busyboxImage, engineIsThere } from "../../cloud-emulator/test/engine.js";
import { emulated } from "./emulated.js";
import { containerSkips } from "./skips.js";

/** The relay's own part; the rest of plain mode is shown by provider-docker, and here with SANDKIT_TEST_ALL=1. */
const groups = [
  "exec.argv",
  "exec.exit-code",
  "exec.env",
  "stdin.bytes",
  "output.binary",
  "kill.timeout",
  "files.range",
];
/** What they time is as long as the relay's own work, on a machine with other work: 32 and 96 MB, and parts of a second. */
const timed = ["output.back-pressure.listener", "output.limit.memory", "exec.result.duration"];

if (engineIsThere) {
  const { provider, [Symbol.asyncDispose]: end } = await emulated({
    provider: docker(),
    machine: { image: busyboxImage },
    network: "record",
  });
  afterAll(end);
  await testProvider({
    provider: () => provider,
    // The suite's programs that connect are in Python.
    cases: conformanceCases.filter(({ id, needs }) => !needs.includes("network.none") && !timed.includes(id)),
    only: process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups,
    timeouts: { factor: 6 },
    skip: containerSkips,
  });
} else describe("conformance", () => it.skip("needs a container engine"));
