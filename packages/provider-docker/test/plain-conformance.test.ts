import { conformanceCases } from "@sandkit/core/conformance";
import { dockerWithImage } from "./docker-with-image.js";
import { testImages, testOnEngine } from "./engine.js";

// The suite's programs that connect are in Python: plain.test.ts shows in another way that there is no network.
const cases = conformanceCases.filter(({ needs }) => !needs.includes("network.none"));
/** What the container does, whatever runs in it, is shown by conformance.test.ts, and here with SANDKIT_TEST_ALL=1. */
const groups = ["files", "kill", "concurrency", "process", "output", "exec", "stdin", "capabilities", "errors"];
const only = process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups;
// Each operation is a program that the engine starts, in 60 ms where an agent takes 2.
const timeouts = { factor: 4 };

await testOnEngine({ provider: () => dockerWithImage(testImages.bare), cases, only, timeouts });
