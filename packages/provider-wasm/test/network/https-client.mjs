// Asks an address from a sandbox, by every client, in a program that trusts what its environment says.
import { createSandbox } from "@sandkit/core";
import { wasm } from "../../dist/index.js";

const [url = ""] = process.argv.slice(2);
const sandbox = await createSandbox(wasm(), { network: { allow: [new URL(url).host] } });
const python = await sandbox.runCode(`
import urllib.request
page = urllib.request.urlopen(${JSON.stringify(url)})
[page.status, page.read().decode()]`);
const javascript = await sandbox.runCode(`await (await fetch(${JSON.stringify(url)})).text()`, {
  language: "javascript",
});
const shell = await sandbox.exec(["curl", "-sS", url]);
console.log(
  JSON.stringify({ python: python.value ?? python.error, javascript: javascript.value, shell: shell.stdout.text }),
);
await sandbox.destroy();
