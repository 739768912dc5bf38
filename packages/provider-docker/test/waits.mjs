// Waits for a port that nothing listens at, and has nothing else to do: this program must live until it is told.
import { createSandbox } from "@sandkit/core";
import { docker } from "../dist/index.js";

const [image] = process.argv.slice(2);
const sandbox = await createSandbox(docker({ images: { python: image }, pull: "never" }));
const told = await sandbox.port(8000, { waitMs: 300 }).catch((error) => error.code);
await sandbox.destroy();
process.stdout.write(`${told}`);
