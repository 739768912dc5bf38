// Makes a sandbox with the labels that it is given, says when it is ready, and waits to be killed.
import { createServer } from "node:http";
import { createSandbox } from "@sandkit/core";
import { docker } from "../dist/index.js";

const [image, mark, mode] = process.argv.slice(2);
const detached = mode === "detached";
const pool = mode === "pool" ? { pool: { size: 2 } } : {};
const provider = docker({ images: { python: image }, leaseMs: 3_000, ...pool });
// What is downloaded never ends.
const server = createServer((_, response) => {
  const timer = setInterval(() => response.writableNeedDrain || response.write(Buffer.alloc(65_536)), 10);
  response.on("close", () => clearInterval(timer));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const site = `localhost:${server.address().port}`;

const sandbox = await createSandbox(provider, {
  labels: { mark },
  // Its pool holds what is asked for by who asks for nothing else.
  ...(mode !== "pool" && { network: { allow: [site] } }),
  onProgress: (message) => console.log(message),
  ...(detached && { lifetime: { detached: true } }),
});
if (detached) await sandbox.files.write("mark", mark);
else await sandbox.spawn("setsid sleep 600 & sleep 600");
if (mode === undefined) {
  const download = await sandbox.spawn(
    [
      "python3",
      "-c",
      `import urllib.request\npage = urllib.request.urlopen("http://${site}/")\nwhile True: print(len(page.read(65536)), flush=True)`,
    ],
    { env: { NO_PROXY: "", no_proxy: "" } },
  );
  for await (const _ of download.stdout) break;
}
console.log(`ready ${JSON.stringify(sandbox.ref)}`);
setInterval(() => undefined, 1_000);
