import { docker } from "../src/index.js";
import { testImages, testOnEngine } from "./engine.js";

// Containers that were there before their sandboxes: what is said to them at the claim, and what became of it.
await testOnEngine({
  provider: () => docker({ images: testImages, pool: { size: 2 } }),
  only: ["lifecycle.create", "lifecycle.name", "lifecycle.attach"],
  timeouts: { factor: 2 },
});
