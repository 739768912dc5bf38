// Begins two installations that never end, and when it is told so destroys their sandbox. Then it has nothing else to do.
import { once } from "node:events";
import { createSandbox } from "@sandkit/core";
import { wasm } from "../../dist/index.js";

const [indexUrl, cacheDir] = process.argv.slice(2);
const sandbox = await createSandbox(wasm({ packages: { indexUrl, cacheDir } }), { network: "packages" });
const running = await sandbox.spawn(["pip", "install", "silent"]);
const cell = sandbox.runCode("%pip install silent");
const settled = Promise.allSettled([running.wait(), cell]);
await once(process, "message");
await sandbox.destroy();
await settled;
