// Makes a sandbox with the labels that it is given, says when it is ready, and waits to be killed.
import { createSandbox } from "@sandkit/core";
import { docker } from "../dist/index.js";

const [image, mark, mode] = process.argv.slice(2);
const detached = mode === "detached";
const pool = mode === "pool" ? { pool: { size: 2 } } : {};
const provider = docker({ images: { python: image }, leaseMs: 3_000, ...pool });
const sandbox = await createSandbox(provider, {
  labels: { mark },
  onProgress: (message) => console.log(message),
  ...(detached && { lifetime: { detached: true } }),
});
if (!detached) await sandbox.spawn("setsid sleep 600 & sleep 600");
else await sandbox.files.write("mark", mark);
console.log(`ready ${JSON.stringify(sandbox.ref)}`);
setInterval(() => undefined, 1_000);
