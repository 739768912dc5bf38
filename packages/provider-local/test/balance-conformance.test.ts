import { balance } from "@sandkit/core";
import { testProvider } from "@sandkit/core/conformance";
import { local } from "../src/index.js";

// What a provider of its own decides; all else is the backends' own, call by call.
await testProvider({
  provider: () => balance({ first: local(), second: local() }, { policy: "least-sessions" }),
  only: ["capabilities", "lifecycle", "errors"],
});
