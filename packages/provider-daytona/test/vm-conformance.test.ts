import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { afterAll } from "vitest";
import { emulated } from "./emulated.js";

const { provider, [Symbol.asyncDispose]: end } = await emulated({ sandboxClass: "linux-vm" });
afterAll(end);

// What a virtual machine does otherwise than a container: it is paused with what runs in it, and forked.
const cases = conformanceCases.filter(({ id }) => /^lifecycle\.(?:pause|fork|snapshot)/.test(id));

await testProvider({ provider: () => provider, cases, timeouts: { factor: 3 } });
