import { conformanceCases } from "@sandkit/core/conformance";
import { dockerWithImage } from "./docker-with-image.js";
import { testImages, testOnEngine } from "./engine.js";

// The suite's programs that connect are in Python: plain.test.ts shows in another way that there is no network.
const cases = conformanceCases.filter(({ needs }) => !needs.includes("network.none"));
// Each operation is a program that the engine starts, in 60 ms where an agent takes 2.
const timeouts = { factor: 4 };

await testOnEngine({ provider: () => dockerWithImage(testImages.bare), cases, timeouts });
