import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { describe, it } from "vitest";
import { bareImage, engineIsThere } from "../../cloud-emulator/test/engine.js";
import { cloudProcess } from "./cloud-process.js";
import { listSkip } from "./skips.js";

/** What a box and its relay have to do with each other; the rest likewise with SANDKIT_TEST_ALL=1. */
const groups = ["lifecycle.pause", "lifecycle.attach", "lifecycle.name.at-once", "exec.exit-code"];
/** What they time is as long as the relay's own work, on a machine with other work: 32 and 96 MB, and parts of a second. */
const timed = [
  "output.back-pressure.listener",
  "output.limit.memory",
  "exec.result.duration",
  "lifecycle.pause.processes",
];

if (engineIsThere) {
  await testProvider({
    provider: () => cloudProcess("plain", bareImage),
    // The suite's programs that connect are in Python.
    cases: conformanceCases.filter(
      ({ id, needs }) => !needs.includes("network.none") && !timed.includes(id) && !(id in listSkip),
    ),
    only: process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups,
    timeouts: { factor: 6 },
  });
} else describe("conformance", () => it.skip("needs a container engine"));
