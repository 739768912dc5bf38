// Makes a sandbox, uses it and removes it. Then nothing keeps this program alive: it must end by itself.
import { createSandbox } from "@sandkit/core";
import { docker } from "../dist/index.js";

const [image] = process.argv.slice(2);
const sandbox = await createSandbox(docker({ images: { python: image }, pull: "never" }));
const { stdout } = await sandbox.exec("echo visited");
await sandbox.destroy();
process.stdout.write(stdout.text);
