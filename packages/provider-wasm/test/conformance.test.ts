import { testProvider } from "@sandkit/core/conformance";
import { wasm } from "../src/index.js";

await testProvider({
  provider: () => wasm(),
  // Starting an interpreter costs tenths of a second of processor time, and a machine that tests may have few.
  timeouts: { factor: 4 },
});
