import { testProvider } from "@sandkit/core/conformance";
import { local } from "../src/index.js";

const untraced =
  "without prctl a daemon with a cleared environment is only known where nothing else runs, as in a container of its own";

await testProvider({
  provider: () => local({ agent: "node" }),
  skip: {
    "kill.timeout.daemon": untraced,
    "kill.abort.daemon": untraced,
    "kill.process.daemon": untraced,
  },
});
