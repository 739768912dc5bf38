import { testProvider } from "@sandkit/core/conformance";
import { afterAll } from "vitest";
import { emulated } from "./emulated.js";

const { provider, [Symbol.asyncDispose]: end } = await emulated();
afterAll(end);

await testProvider({ provider: () => provider, timeouts: { factor: 3 } });
