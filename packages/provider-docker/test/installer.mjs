// Another program that asks for the same packages: node installer.mjs IMAGE OPTIONS. Says "made" when it has them.
import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const [image, options] = process.argv.slice(2);
const sandbox = await createSandbox(docker(JSON.parse(options)), { image, packages: ["words"] });
const { stdout } = await sandbox.exec(["python3", "-c", "import words; print(words.WORDS)"]);
process.stdout.write(stdout.text);
await sandbox.destroy();
