import { testProvider } from "@sandkit/core/conformance";
import { local } from "../src/index.js";

const daemons =
  "on a machine that is shared, a double fork without its environment leaves no trace for an agent that is no subreaper; in a box of its own, as in Docker, it is found";

await testProvider({
  provider: () => local({ agent: "node" }),
  skip: {
    "kill.timeout.daemon": daemons,
    "kill.abort.daemon": daemons,
    "kill.process.daemon": daemons,
  },
});
