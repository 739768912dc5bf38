import { testProvider } from "@sandkit/core/conformance";
import { local } from "../src/index.js";

await testProvider({ provider: () => local({ agent: "node" }) });
