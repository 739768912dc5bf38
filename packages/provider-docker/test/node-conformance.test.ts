import { dockerWithImage } from "./docker-with-image.js";
import { testImages, testOnEngine } from "./engine.js";

/** What the agent does; what the container does beside it is shown by conformance.test.ts, and with SANDKIT_TEST_ALL=1. */
const groups = ["exec", "stdin", "output", "kill", "process", "files", "kernel", "network", "capabilities", "errors"];
const only = process.env.SANDKIT_TEST_ALL === "1" ? undefined : groups;

// An image without Python: the agent in JavaScript.
await testOnEngine({ provider: () => dockerWithImage(testImages.node), only, timeouts: { factor: 2 } });
