import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { cloudProcess } from "./cloud-process.js";
import { listSkip } from "./skips.js";

await testProvider({
  provider: () => cloudProcess("local"),
  // These boxes are plain processes, with the network of this machine: docker-conformance.test.ts has walls.
  cases: conformanceCases.filter(({ needs }) => !needs.includes("network.none")),
  skip: listSkip,
  // Programs are slow to start where many tests run.
  timeouts: { factor: 4 },
});
