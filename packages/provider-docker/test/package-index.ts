import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";

const program = fileURLToPath(new URL("./guest/make_packages.py", import.meta.url));

/** An index of pip's and a registry of npm's, on this machine's loopback. */
export class PackageIndex {
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  readonly #folder: string;
  readonly #server: Server;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => response.destroy(error));
    });
  }

  static async start(): Promise<PackageIndex> {
    const folder = await mkdtemp(join(tmpdir(), "sandkit-index-"));
    await promisify(execFile)("python3", [program, folder]);
    const index = new PackageIndex(folder);
    await once(index.#server.listen(0, "127.0.0.1"), "listening");
    return index;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#folder, { recursive: true });
  }

  /** Options of `docker()` by which it is the only index. */
  get options() {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return { indexUrl: `${url}/simple/`, npmRegistry: `${url}/npm/` };
  }

  async #answer({ url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked.push(url);
    const [, kind, name = ""] = decodeURIComponent(url).split("/");
    const files = await readdir(join(this.#folder, kind === "npm" || kind === "npm-file" ? "npm" : "pip"));
    const own = files.filter((file) => file.replace(/-\d.*$/, "") === name);
    if (kind === "pip-file" || kind === "npm-file") {
      const bytes = await readFile(join(this.#folder, kind.slice(0, 3), name));
      response.writeHead(200, { "Content-Length": bytes.length });
      // Half of it, and then nothing more.
      if (name.startsWith("hanging")) response.write(bytes.subarray(0, bytes.length / 2));
      else response.end(bytes);
    } else if (own.length === 0) response.writeHead(404, { "Content-Type": "application/json" }).end("{}");
    else if (kind === "simple") {
      const links = own.map((file) => `<a href="/pip-file/${file}">${file}</a>`);
      response.setHeader("Content-Type", "text/html").end(links.join("\n"));
    } else response.setHeader("Content-Type", "application/json").end(await this.#packument(name, own, headers.host));
  }

  async #packument(name: string, files: readonly string[], host = ""): Promise<string> {
    const versions: Record<string, object> = {};
    for (const file of files) {
      const bytes = await readFile(join(this.#folder, "npm", file));
      const entries = await unpackTar(gunzipSync(bytes));
      const facts = JSON.parse(Buffer.from(entries[0]?.data ?? []).toString());
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const dist = { tarball: `http://${host}/npm-file/${file}`, integrity };
      versions[facts.version] = { ...facts, dist, hasInstallScript: facts.scripts !== undefined };
    }
    return JSON.stringify({ name, versions, "dist-tags": { latest: Object.keys(versions).sort().at(-1) } });
  }
}
