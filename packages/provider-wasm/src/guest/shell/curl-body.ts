import type { ResolvedCommandContext } from "just-bash";
import { bytesOfLatin1 } from "./bytes.js";
import type { CurlData, CurlOptions } from "./curl-options.js";
import { host } from "./globals.js";
import { TransferFailure } from "./http.js";

/** What is sent, and what it makes of the request. */
export interface CurlBody {
  readonly method: string;
  readonly bytes: Uint8Array | null;
  readonly type?: string;
  /** Of the address, where the data belongs there. */
  readonly query: string;
}

const encoder = new TextEncoder();

/** The body of the request that a command line describes. @throws TransferFailure for a file that cannot be read */
export async function bodyOf(options: CurlOptions, context: ResolvedCommandContext): Promise<CurlBody> {
  const { upload, form, data, isGet, isJson, isHead } = options;
  if (upload !== undefined) return { method: "PUT", bytes: await read(upload, context), query: "" };
  if (form.length > 0) return { method: "POST", ...(await multipart(form, context)), query: "" };
  if (data.length === 0) return { method: "GET", bytes: null, query: "" };
  const pieces = await Promise.all(data.map((piece) => bytesOf(piece, context)));
  const bytes = joined(
    pieces.flatMap((piece, index) => (index > 0 && !isJson ? [encoder.encode("&"), piece] : [piece])),
  );
  if (isGet || isHead) return { method: "GET", bytes: null, query: new TextDecoder().decode(bytes) };
  return { method: "POST", bytes, type: isJson ? "application/json" : "application/x-www-form-urlencoded", query: "" };
}

async function bytesOf(piece: CurlData, context: ResolvedCommandContext): Promise<Uint8Array> {
  if (piece.kind === "text") return encoder.encode(piece.text);
  const bytes = await read(piece.path, context);
  if (piece.as === "exact") return bytes;
  if (piece.as === "plain") return bytes.filter((byte) => byte !== 10 && byte !== 13);
  const escaped = encodeURIComponent(new TextDecoder().decode(bytes));
  return encoder.encode(piece.name === "" ? escaped : `${piece.name}=${escaped}`);
}

async function multipart(fields: readonly string[], context: ResolvedCommandContext) {
  const random = new Uint8Array(12);
  host.random(random);
  const boundary = `------------------------${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const pieces: Uint8Array[] = [];
  for (const field of fields) {
    const [, name = "", rest = ""] = /^([^=]*)=(.*)$/s.exec(field) ?? [];
    const isFile = rest.startsWith("@");
    const [content = "", ...settings] = isFile || rest.startsWith("<") ? rest.slice(1).split(";") : [rest];
    const setting = (key: string) => settings.find((each) => each.startsWith(`${key}=`))?.slice(key.length + 1);
    const fileName = setting("filename") ?? content.split("/").at(-1) ?? "";
    const type = setting("type") ?? (isFile ? "application/octet-stream" : undefined);
    const head = [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${quoted(name)}"${isFile ? `; filename="${quoted(fileName)}"` : ""}`,
      ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ];
    pieces.push(encoder.encode(`${head.join("\r\n")}\r\n\r\n`));
    pieces.push(rest === content ? encoder.encode(content) : await read(content, context), encoder.encode("\r\n"));
  }
  pieces.push(encoder.encode(`--${boundary}--\r\n`));
  return { bytes: joined(pieces), type: `multipart/form-data; boundary=${boundary}` };
}

function quoted(name: string): string {
  return name.replaceAll('"', "%22").replace(/[\r\n]/g, "");
}

async function read(path: string, context: ResolvedCommandContext): Promise<Uint8Array> {
  if (path === "-") return bytesOfLatin1(context.stdin as unknown as string);
  try {
    return await context.fs.readFileBuffer(context.fs.resolvePath(context.cwd, path));
  } catch (error) {
    throw new TransferFailure(26, `Failed to open ${path}: ${error instanceof Error ? error.message : "failed"}`);
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
