import { testProvider } from "@sandkit/core/conformance";
import { docker } from "../src/index.js";
import { testImages } from "./engine.js";

await testProvider({ provider: () => docker({ images: { python: testImages.bare } }) });
