import { posix } from "node:path";
import { Readable } from "node:stream";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import type { Exchange } from "../../http/exchange.js";
import { daemonFailure, failureBody, toApiFailure } from "../api-failure.js";
import type { Toolbox } from "./toolbox.js";

/** `POST /files/bulk-upload`: parts `files[N].path`, each followed by its `files[N].file`. */
export async function uploadFiles(toolbox: Toolbox, exchange: Exchange): Promise<void> {
  const paths = new Map<string, string>();
  let count = 0;
  await readForm(exchange, {
    field(name, value) {
      const [, index] = /^files\[(\d+)\]\.path$/.exec(name) ?? [];
      if (index !== undefined) paths.set(index, value);
    },
    async file(name, bytes) {
      const [, index = ""] = /^files\[(\d+)\]\.file$/.exec(name) ?? [];
      const path = paths.get(index);
      if (path === undefined) throw daemonFailure(400, `the path of ${name} has to come before it`);
      count += 1;
      await save(toolbox, path, bytes);
    },
  });
  if (count === 0) throw daemonFailure(400, "no files in the form");
}

/** `POST /files/upload-v2`: one part `file` for one path. */
export async function uploadFile(toolbox: Toolbox, exchange: Exchange, path: string): Promise<void> {
  let seen = false;
  await readForm(exchange, {
    field() {
      // Only the file counts.
    },
    async file(_name, bytes) {
      seen = true;
      await save(toolbox, path, bytes);
    },
  });
  if (!seen) throw daemonFailure(400, "no file in the form");
}

/** `GET /files/download`. */
export async function downloadFile(toolbox: Toolbox, exchange: Exchange, path: string): Promise<void> {
  const { size, bytes } = await open(toolbox, path);
  exchange.start(200, {
    "content-type": "application/octet-stream",
    "content-length": String(size),
    "content-disposition": `attachment; ${fileName(posix.basename(path))}`,
  });
  for await (const chunk of bytes) await exchange.write(chunk);
  await exchange.end();
}

const boundary = "DAYTONA-FILE-BOUNDARY-6f1c2d8e9a7b4c3f";

/** `POST /files/bulk-download`: a part for each path, `file` with its bytes or `error` with why not. */
export async function downloadFiles(toolbox: Toolbox, exchange: Exchange, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) throw daemonFailure(400, "request body must be {paths: [...]} and non-empty");
  exchange.start(200, { "content-type": `multipart/form-data; boundary=${boundary}` });
  for (const path of paths) {
    try {
      const { size, bytes } = await open(toolbox, path);
      await exchange.write(partHead("file", path, "application/octet-stream", size));
      for await (const chunk of bytes) await exchange.write(chunk);
    } catch (error) {
      const failure = failureBody(toApiFailure(error, "DAYTONA_DAEMON"), exchange.method, exchange.path);
      const body = Buffer.from(JSON.stringify(failure));
      await exchange.write(partHead("error", path, "application/json", body.length));
      await exchange.write(body);
    }
    await exchange.write(Buffer.from("\r\n"));
  }
  await exchange.end(Buffer.from(`--${boundary}--\r\n`));
}

async function open(toolbox: Toolbox, path: string) {
  const { files } = toolbox.box;
  const absolute = toolbox.path(path);
  const { type, size } = await files.stat(absolute);
  if (type === "directory") throw daemonFailure(400, `path is a directory: ${path}`);
  return { size, bytes: await files.readStream(absolute) };
}

async function save(toolbox: Toolbox, path: string, bytes: Readable): Promise<void> {
  await toolbox.box.files.write(toolbox.path(path), Readable.toWeb(bytes) as ReadableStream<Uint8Array>);
}

function partHead(name: "file" | "error", path: string, type: string, size: number): Buffer {
  const disposition = `form-data; name="${name}"; ${fileName(path)}`;
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\nContent-Length: ${size}\r\n\r\n`,
  );
}

/** A name as a parameter of a header: one that ASCII cannot tell is told a second time, in an encoding that can. */
function fileName(name: string): string {
  const quoted = name
    .replaceAll(/[^ -~]/gu, "_")
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"');
  const plain = `filename="${quoted}"`;
  if (!/[^ -~]/.test(name)) return plain;
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${plain}; filename*=utf-8''${encoded}`;
}

interface FormParts {
  field(name: string, value: string): void;
  file(name: string, bytes: Readable): Promise<void>;
}

async function readForm({ request, signal }: Exchange, parts: FormParts): Promise<void> {
  const type = request.headers["content-type"];
  if (!type?.startsWith("multipart/form-data")) throw daemonFailure(400, "the body has to be multipart/form-data");
  const form = new Busboy({ headers: request.headers as BusboyHeaders, preservePath: true });
  let work = Promise.resolve();
  let current: Readable | undefined;
  const read = new Promise<void>((resolve, reject) => {
    form.on("field", parts.field);
    form.on("file", (name, bytes) => {
      current = bytes;
      work = work.then(() => parts.file(name, bytes));
      work.catch((error) => {
        bytes.resume();
        reject(error);
      });
    });
    form.on("finish", resolve);
    form.on("error", reject);
    const gone = new Error("the client went away in the middle of the upload");
    signal.addEventListener("abort", () => current?.destroy(gone), { once: true });
    signal.addEventListener("abort", () => reject(gone), { once: true });
  });
  request.pipe(form);
  await read;
  await work;
}
