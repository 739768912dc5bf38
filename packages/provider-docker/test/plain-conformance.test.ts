import { conformanceCases, testProvider } from "@sandkit/core/conformance";
import { testImages } from "./engine.js";
import { dockerWithImage } from "./plain-provider.js";

// The suite's programs that connect are in Python: plain.test.ts shows in another way that there is no network.
const cases = conformanceCases.filter(({ needs }) => !needs.includes("network.none"));
// Each operation is a program that the engine starts, in 60 ms where an agent takes 2.
const timeouts = { factor: 4 };

await testProvider({ provider: () => dockerWithImage(testImages.bare), cases, timeouts });
