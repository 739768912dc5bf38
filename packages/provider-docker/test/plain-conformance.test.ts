import { testProvider } from "@sandkit/core/conformance";
import { testImages } from "./engine.js";
import { dockerWithImage } from "./plain-provider.js";

await testProvider({ provider: () => dockerWithImage(testImages.bare) });
