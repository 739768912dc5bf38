import { testProvider } from "../../src/conformance/index.js";
import { remoteProvider } from "./remote-provider.js";

// What the link and its session do themselves; the whole suite runs over them in the providers of clouds.
await testProvider({
  provider: () => remoteProvider(),
  only: ["exec", "stdin", "kill", "files", "concurrency"],
});
