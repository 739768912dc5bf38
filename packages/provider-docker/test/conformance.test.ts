import { docker } from "../src/index.js";
import { testImages, testOnEngine } from "./engine.js";

// A container costs a quarter of a second of the processors, and a machine that tests may have few.
await testOnEngine({ provider: () => docker({ images: testImages }), timeouts: { factor: 2 } });
