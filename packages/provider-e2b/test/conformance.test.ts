import { testProvider } from "@sandkit/core/conformance";
import { cloudProcess } from "./cloud-process.js";

// Over plain processes of this machine, which are slow to start where many tests run.
await testProvider({
  provider: () => cloudProcess("local"),
  skip: {
    "network.none": "the emulator runs this over plain processes, which reach what this machine reaches",
    "network.allowlist": "E2B's lists of hosts have no ports, and this server listens on one: that is UNSUPPORTED",
  },
  timeouts: { factor: 4 },
});
