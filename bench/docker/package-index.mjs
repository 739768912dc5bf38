import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { engine } from "./bench-engine.mjs";

const wheel = "greet-1.0-py3-none-any.whl";

/** An index of Python packages on this machine that has one, of one module. */
export async function startIndex() {
  const bytes = await makeWheel();
  const server = createServer(({ url }, response) => {
    if (url === `/${wheel}`) response.end(bytes);
    else if (url === "/simple/greet/")
      response.setHeader("Content-Type", "text/html").end(`<a href="/${wheel}">${wheel}</a>`);
    else response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}/simple/`,
    package: "greet==1.0",
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function makeWheel() {
  const folder = await mkdtemp(join(tmpdir(), "sandkit-bench-"));
  try {
    const info = "greet-1.0.dist-info";
    await mkdir(join(folder, info));
    await writeFile(join(folder, "greet.py"), "WORDS = 'hello'\n");
    await writeFile(join(folder, info, "METADATA"), "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n");
    await writeFile(join(folder, info, "WHEEL"), "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
    await writeFile(join(folder, info, "RECORD"), `greet.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n`);
    await promisify(execFile)("python3", ["-m", "zipfile", "-c", wheel, "greet.py", info], { cwd: folder });
    return await readFile(join(folder, wheel));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Ids of the images of package sets that the engine has. */
export async function packageSets() {
  const images = await engine.listImages({ filters: JSON.stringify({ label: ["sandkit.packages.set"] }) });
  return images.map(({ Id }) => Id);
}
