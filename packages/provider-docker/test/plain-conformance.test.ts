import { conformanceCases } from "@sandkit/core/conformance";
import { dockerWithImage } from "./docker-with-image.js";
import { testImages, testOnEngine } from "./engine.js";

// The suite's programs that connect are in Python: plain.test.ts shows in another way that there is no network.
const cases = conformanceCases.filter(({ needs }) => !needs.includes("network.none"));
/**
 * What plain mode does in its own way; with SANDKIT_TEST_ALL=1 the rest too. What the container does, whatever runs in
 * it, is shown by conformance.test.ts.
 */
const groups = [
  ...["files.range", "files.atomic", "files.name", "files.permissions", "files.list", "files.move", "files.remove"],
  ...["kill.timeout", "kill.abort", "exec.argv", "exec.exit-code", "exec.env", "stdin", "output.limit"],
  ...["capabilities", "errors"],
];
const only = process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups;
// Each operation is a program that the engine starts, in 60 ms where an agent takes 2.
const timeouts = { factor: 4 };

await testOnEngine({ provider: () => dockerWithImage(testImages.bare), cases, only, timeouts });
