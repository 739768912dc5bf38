import { testProvider } from "../../src/conformance/index.js";
import { remoteProvider } from "./remote-provider.js";

await testProvider({ provider: () => remoteProvider() });
