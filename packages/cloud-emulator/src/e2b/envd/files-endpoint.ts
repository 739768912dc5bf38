import { posix } from "node:path";
import { Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { Busboy } from "@fastify/busboy";
import { messageOf, SandboxError } from "@sandkit/core";
import type { Exchange } from "../../http/exchange.js";
import { HttpFailure } from "../../http/http-failure.js";
import type { E2BSandbox } from "../sandbox.js";
import { ConnectFailure } from "./connect-failure.js";
import { signatureOf } from "./signature.js";
import { knownUser } from "./users.js";

/** What an upload tells of each file. */
interface WrittenFile {
  readonly name: string;
  readonly type: "file";
  readonly path: string;
}

const statusOfError: Partial<Record<SandboxError["code"], number>> = {
  FILE_NOT_FOUND: 404,
  IS_DIRECTORY: 400,
  NOT_DIRECTORY: 400,
  INVALID: 400,
  PERMISSION: 403,
  NO_SPACE: 507,
};

/** `/files` of envd: whole files, down and up. */
export class FilesEndpoint {
  readonly #sandbox: E2BSandbox;

  constructor(sandbox: E2BSandbox) {
    this.#sandbox = sandbox;
  }

  async download(exchange: Exchange): Promise<void> {
    this.#letIn(exchange, "read");
    const path = this.#sandbox.resolve(exchange.query.get("path") ?? "");
    await this.#onFile(path, async () => {
      const { type, size } = await this.#sandbox.box.files.stat(path);
      if (type === "directory") throw new HttpFailure(400, `path '${path}' is a directory`);
      if (type !== "file") throw new HttpFailure(400, `path '${path}' is not a regular file`);
      const content = await this.#sandbox.box.files.readStream(path, { signal: exchange.signal });
      const headers = {
        "content-type": "application/octet-stream",
        "content-disposition": `inline; filename*=utf-8''${encodeURIComponent(posix.basename(path))}`,
        vary: "Accept-Encoding",
      };
      const bytes = Readable.fromWeb(content as Parameters<typeof Readable.fromWeb>[0]);
      // A client that leaves breaks the reading off, perhaps when nobody reads any more.
      bytes.on("error", () => exchange.destroy());
      if (takesGzip(exchange.header("accept-encoding"))) {
        exchange.start(200, { ...headers, "content-encoding": "gzip" });
        const packed = createGzip({ level: 1 });
        await send(exchange, bytes.on("error", (error) => packed.destroy(error)).pipe(packed));
      } else {
        exchange.start(200, { ...headers, "content-length": String(size) });
        await send(exchange, bytes);
      }
    });
  }

  async upload(exchange: Exchange): Promise<void> {
    this.#letIn(exchange, "write");
    const metadata = Object.keys(exchange.request.headers).find((name) => name.startsWith("x-metadata-"));
    if (metadata) throw new HttpFailure(501, `metadata of files is not emulated: leave ${metadata} out`);
    const asked = exchange.query.get("path") ?? "";
    const type = exchange.header("content-type") ?? "";
    if (type.startsWith("application/octet-stream")) {
      if (asked === "") throw new HttpFailure(400, "an upload of bytes needs the query parameter path");
      await exchange.json(200, [await this.#write(this.#sandbox.resolve(asked), bodyOf(exchange))]);
    } else if (type.startsWith("multipart/form-data")) {
      await exchange.json(200, await this.#writeParts(exchange, asked));
    } else
      throw new HttpFailure(400, `content type "${type}" is neither multipart/form-data nor application/octet-stream`);
  }

  /** One after the other, as they come: none is held in memory. */
  async #writeParts(exchange: Exchange, asked: string): Promise<WrittenFile[]> {
    const headers = { ...exchange.request.headers, "content-type": exchange.header("content-type") ?? "" };
    const form = new Busboy({ headers, preservePath: true });
    const written: Promise<WrittenFile>[] = [];
    form.on("file", (field, content, name) => {
      if (field !== "file") return content.resume();
      const writing = this.#write(this.#sandbox.resolve(asked || name), content);
      writing.catch((error) => form.destroy(error));
      written.push(writing);
      return undefined;
    });
    const done = new Promise<void>((resolve, reject) => form.once("finish", resolve).once("error", reject));
    bodyOf(exchange)
      .on("error", (error) => form.destroy(error))
      .pipe(form);
    await done;
    if (written.length === 0) throw new HttpFailure(400, 'the form has no part "file"');
    return Promise.all(written);
  }

  async #write(path: string, content: Readable): Promise<WrittenFile> {
    return this.#onFile(path, async () => {
      await this.#sandbox.box.files.write(path, Readable.toWeb(content) as ReadableStream<Uint8Array>);
      return { name: posix.basename(path), type: "file", path };
    });
  }

  /** Whether the address was signed with this sandbox's token. */
  signed({ query, method }: Exchange, operation: "read" | "write" = method === "GET" ? "read" : "write"): boolean {
    const token = this.#sandbox.accessToken;
    if (token === undefined) return false;
    const path = query.get("path") ?? "";
    const expiration = query.get("signature_expiration") ?? undefined;
    const user = query.get("username") ?? "";
    return query.get("signature") === signatureOf({ path, operation, user, token, expiration });
  }

  /** @throws HttpFailure 401 for a signature that does not fit, or for an unknown user */
  #letIn(exchange: Exchange, operation: "read" | "write"): void {
    const { query } = exchange;
    const user = query.get("username") ?? "";
    try {
      knownUser(user);
    } catch (error) {
      if (error instanceof ConnectFailure) throw new HttpFailure(401, error.message);
      throw error;
    }
    if (!query.has("signature") || this.#sandbox.accessToken === undefined) return;
    if (!this.signed(exchange, operation)) throw new HttpFailure(401, "invalid signature");
    const expiration = query.get("signature_expiration");
    if (expiration !== null && Number(expiration) * 1000 < this.#sandbox.clock.now()) {
      throw new HttpFailure(401, "signature is already expired");
    }
  }

  async #onFile<T>(path: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      const status = statusOfError[error.code] ?? 500;
      const message =
        error.code === "FILE_NOT_FOUND"
          ? `path '${path}' does not exist`
          : error.code === "IS_DIRECTORY"
            ? `path is a directory: ${path}`
            : messageOf(error);
      throw new HttpFailure(status, message);
    }
  }
}

function bodyOf(exchange: Exchange): Readable {
  const encoding = exchange.header("content-encoding") ?? "identity";
  if (encoding === "identity") return exchange.request;
  if (encoding !== "gzip") throw new HttpFailure(400, `unsupported Content-Encoding: ${encoding}`);
  const plain = createGunzip();
  exchange.request.on("error", (error) => plain.destroy(error)).pipe(plain);
  return plain;
}

async function send(exchange: Exchange, content: Readable): Promise<void> {
  for await (const chunk of content) {
    await exchange.write(chunk);
    if (exchange.signal.aborted) break;
  }
  await exchange.end();
}

/** As envd does: gzip wherever the client takes it. */
function takesGzip(header = ""): boolean {
  return header.split(",").some((entry) => {
    const [name = "", ...parameters] = entry.trim().toLowerCase().split(";");
    return name === "gzip" && !parameters.some((one) => /^\s*q=0(\.0*)?$/.test(one));
  });
}
