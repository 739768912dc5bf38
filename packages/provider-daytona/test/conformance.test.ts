import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { afterAll } from "vitest";
import { emulated } from "./emulated.js";
import { containerSkips, listSkip } from "./skips.js";

const { provider, [Symbol.asyncDispose]: end } = await emulated();
afterAll(end);

await testProvider({
  provider: () => provider,
  // These boxes are plain processes, with the network of this machine: docker-conformance.test.ts has walls.
  cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
  timeouts: { factor: 3 },
  skip: { ...containerSkips, ...listSkip },
});
