import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";

const manifestType = "application/vnd.docker.distribution.manifest.v2+json";
const pieceBytes = 256 * 1024;

/** A registry of the test's own, with one image of two layers. */
export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:port`, where engines allow plain HTTP. */
  readonly host: string;
  /** How often each path was asked for. */
  readonly asked: ReadonlyMap<string, number>;
  /** Between two pieces of a layer of 256 KiB, in milliseconds. */
  delayMs: number;
  /** Whether it wants a login. */
  locked: boolean;
}

/** Serves `any-name:latest`, the same as `any-name:other`, with fresh layers that no engine has. */
export async function serveRegistry(): Promise<Registry> {
  const blobs = new Map<string, Buffer>();
  const keep = (bytes: Buffer) => {
    const digest = digestOf(bytes);
    blobs.set(digest, bytes);
    return { digest, size: bytes.length };
  };
  const layers = [await layer("first", 4), await layer("second", 2)];
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const rootfs = { type: "layers", diff_ids: layers.map(digestOf) };
  const config = Buffer.from(JSON.stringify({ architecture, os: "linux", config: { Cmd: ["/none"] }, rootfs }));
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType: "application/vnd.docker.container.image.v1+json", ...keep(config) },
      layers: layers.map((tar) => ({
        mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip",
        ...keep(gzipSync(tar, { level: 1 })),
      })),
    }),
  );
  const asked = new Map<string, number>();
  const state = { delayMs: 0, locked: false };

  const server = createServer((request, response) => {
    const url = request.url ?? "";
    asked.set(url, (asked.get(url) ?? 0) + 1);
    const body = request.method !== "HEAD";
    if (state.locked) {
      response.setHeader("www-authenticate", 'Basic realm="test"');
      return refuse(response, 401, "UNAUTHORIZED", "authentication required");
    }
    if (url === "/v2/") return response.end("{}");
    const [, tag] = url.match(/\/manifests\/(.+)$/) ?? [];
    if (tag !== undefined) {
      if (tag !== "latest" && tag !== "other" && tag !== digestOf(manifest))
        return refuse(response, 404, "MANIFEST_UNKNOWN", "manifest unknown");
      const headers = { "content-type": manifestType, "docker-content-digest": digestOf(manifest) };
      response.writeHead(200, { ...headers, "content-length": manifest.length });
      return response.end(body ? manifest : undefined);
    }
    const blob = blobs.get(url.match(/\/blobs\/(sha256:.+)$/)?.[1] ?? "");
    if (!blob) return refuse(response, 404, "BLOB_UNKNOWN", "blob unknown");
    response.writeHead(200, { "content-length": blob.length });
    if (body) void sendSlowly(response, blob, () => state.delayMs);
    else response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(state, {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}

async function layer(name: string, megabytes: number): Promise<Buffer> {
  const body = randomBytes(megabytes * 1024 * 1024);
  return Buffer.from(await packTar([{ header: { name, size: body.length }, body }]));
}

async function sendSlowly(response: ServerResponse, bytes: Buffer, delayMs: () => number): Promise<void> {
  for (let at = 0; at < bytes.length && !response.destroyed; at += pieceBytes) {
    response.write(bytes.subarray(at, at + pieceBytes));
    if (delayMs() > 0) await new Promise((resolve) => setTimeout(resolve, delayMs()));
  }
  response.end();
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
