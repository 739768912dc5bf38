import { testProvider } from "@sandkit/core/conformance";
import { afterAll } from "vitest";
import { emulated } from "./emulated.js";
import { containerSkips, listSkip } from "./skips.js";

const { provider, [Symbol.asyncDispose]: end } = await emulated();
afterAll(end);

await testProvider({
  provider: () => provider,
  timeouts: { factor: 3 },
  skip: {
    ...containerSkips,
    ...listSkip,
    "network.none": "these boxes are plain processes of this machine: docker-conformance.test.ts has walls",
  },
});
