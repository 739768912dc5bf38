import { dockerWithImage } from "./docker-with-image.js";
import { testImages, testOnEngine } from "./engine.js";

// An image without Python: the agent in JavaScript.
await testOnEngine({ provider: () => dockerWithImage(testImages.node), timeouts: { factor: 2 } });
