// Begins two installations that never end, destroys their sandbox, and has nothing else to do.
import { setTimeout } from "node:timers/promises";
import { createSandbox } from "@sandkit/core";
import { wasm } from "../../dist/index.js";

const [indexUrl, cacheDir] = process.argv.slice(2);
const sandbox = await createSandbox(wasm({ packages: { indexUrl, cacheDir } }), { network: "packages" });
const running = await sandbox.spawn(["pip", "install", "silent"]);
const cell = sandbox.runCode("%pip install silent");
const settled = Promise.allSettled([running.wait(), cell]);
await setTimeout(2000);
await sandbox.destroy();
await settled;
