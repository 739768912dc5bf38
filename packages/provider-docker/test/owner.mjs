// Makes a sandbox with the labels that it is given, says when it is ready, and waits to be killed.
import { createServer } from "node:http";
import { createSandbox } from "@sandkit/core";
import { docker } from "../dist/index.js";

const [image, mark, mode] = process.argv.slice(2);
const detached = mode === "detached";
const pool = mode === "pool" ? { pool: { size: 2 } } : {};
const provider = docker({ images: { python: image }, leaseMs: 3_000, ...pool });
// A pool's sandboxes of the usual kind have no network.
const site = mode === "pool" ? undefined : await endlessSite();
const sandbox = await createSandbox(provider, {
  labels: { mark },
  ...(site && { network: { allow: [site] } }),
  onProgress: (message) => console.log(message),
  ...(detached && { lifetime: { detached: true } }),
});
if (!detached) {
  await sandbox.spawn("setsid sleep 600 & sleep 600");
  const download =
    site &&
    (await sandbox.spawn(
      [
        "python3",
        "-c",
        `import urllib.request\npage = urllib.request.urlopen("http://${site}/")\nwhile True: print(len(page.read(65536)), flush=True)`,
      ],
      { env: { NO_PROXY: "", no_proxy: "" } },
    ));
  for await (const _ of download?.stdout ?? []) break;
} else await sandbox.files.write("mark", mark);
console.log(`ready ${JSON.stringify(sandbox.ref)}`);
setInterval(() => undefined, 1_000);

/** The address of a server whose answers never end. */
async function endlessSite() {
  const chunk = Buffer.alloc(65_536);
  const server = createServer((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more);
    more();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return `localhost:${server.address().port}`;
}
