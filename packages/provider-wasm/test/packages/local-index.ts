import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Wheel } from "./make-wheel.js";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** How one file is listed, where it is not as it should be. */
export interface Listing {
  readonly sha256?: string | null;
  readonly yanked?: string;
  readonly url?: string;
  readonly core?: boolean;
}

/** An index of packages on this machine, by the simple API, with files as its tests want them. */
export class LocalIndex {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #wheels = new Map<string, { wheel: Wheel; listing: Listing }[]>();
  readonly #files = new Map<string, string[]>();
  readonly #special = new Map<string, Answer>();
  /** Paths that were asked for, in their order. */
  readonly requests: string[] = [];
  /** False: pages are HTML, as PEP 503 has them. */
  json = true;

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/simple/`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  add(wheel: Wheel, listing: Listing = {}): Wheel {
    this.#wheels.set(wheel.name, [...(this.#wheels.get(wheel.name) ?? []), { wheel, listing }]);
    return wheel;
  }

  /** Files that are listed and not there. */
  list(name: string, ...filenames: readonly string[]): void {
    this.#files.set(name, [...filenames]);
  }

  /** Has a path answered in a way of its own. */
  answer(path: string, answer: Answer): void {
    this.#special.set(path, answer);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? "/", "http://index").pathname;
    this.requests.push(path);
    const special = this.#special.get(path);
    if (special) {
      special(request, response);
      return;
    }
    const [, kind, name = ""] = path.split("/");
    if (kind === "simple") this.#page(name, response);
    else if (kind === "files") this.#file(name, response);
    else response.writeHead(404).end();
  }

  #page(name: string, response: ServerResponse): void {
    const wheels = this.#wheels.get(name) ?? [];
    const others = this.#files.get(name) ?? [];
    if (wheels.length + others.length === 0) {
      response.writeHead(404).end("no such package");
      return;
    }
    const files = [
      ...wheels.map(({ wheel, listing }) => ({
        filename: wheel.filename,
        url: listing.url ?? `/files/${wheel.filename}`,
        hashes: listing.sha256 === null ? {} : { sha256: listing.sha256 ?? wheel.sha256 },
        yanked: listing.yanked ?? false,
        ...(listing.core && { "core-metadata": { sha256: sha256(wheel.metadata) } }),
      })),
      ...others.map((filename) => ({
        filename,
        url: `/files/${filename}`,
        hashes: { sha256: "0".repeat(64) },
        yanked: false,
      })),
    ];
    if (this.json) {
      response.writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" });
      response.end(JSON.stringify({ meta: { "api-version": "1.0" }, name, files }));
      return;
    }
    const anchors = files.map(({ filename, url, hashes, yanked }) => {
      const hash = hashes.sha256 === undefined ? "" : `#sha256=${hashes.sha256}`;
      return `<a href="${url}${hash}" data-requires-python="&gt;=3.8"${yanked ? ` data-yanked="${yanked}"` : ""}>${filename}</a><br/>`;
    });
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!DOCTYPE html><html><body>\n${anchors.join("\n")}\n</body></html>`);
  }

  #file(name: string, response: ServerResponse): void {
    const metadataOf = name.endsWith(".metadata") ? name.slice(0, -".metadata".length) : undefined;
    const wheels = [...this.#wheels.values()].flat().map(({ wheel }) => wheel);
    const wheel = wheels.find(({ filename }) => filename === (metadataOf ?? name));
    if (!wheel) response.writeHead(404).end();
    else response.end(metadataOf === undefined ? wheel.bytes : wheel.metadata);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
