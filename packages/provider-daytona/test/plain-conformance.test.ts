import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { docker } from "@sandkit/provider-docker";
import { afterAll, describe, it } from "vitest";
import { busyboxImage, engineIsThere } from "../../cloud-emulator/test/engine.js";
import { emulated } from "./emulated.js";
import { containerSkips } from "./skips.js";

/** The relay's own part; the rest of plain mode is shown by provider-docker, and here with SANDKIT_TEST_ALL=1. */
const groups = ["exec", "stdin.bytes", "stdin.unread", "output.binary", "kill.timeout", "files.range"];
/** 32 and 96 MB by a relay in shell take longer than these cases wait. */
const slow = ["output.back-pressure.listener", "output.limit.memory"];

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
    cases: conformanceCases.filter(({ id, needs }) => !needs.includes("network.none") && !slow.includes(id)),
    only: process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups,
    timeouts: { factor: 6 },
    skip: containerSkips,
  });
} else describe("conformance", () => it.skip("needs a container engine"));
