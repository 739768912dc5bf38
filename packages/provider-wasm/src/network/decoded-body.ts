import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { NetworkError } from "@sandkit/core/network";

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
/** Each can make a thousand bytes of one: two suffice for every honest server. */
const mostEncodings = 2;

/** The body of an answer, without the encodings that we know where that is asked for. Read as fast as it is taken. */
export function decodedBody(
  response: IncomingMessage,
  { decode, method }: { readonly decode: boolean; readonly method: string },
): Readable {
  const encodings = (response.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const makers = encodings.map((name) => decoders[name]);
  if (!decode || method.toUpperCase() === "HEAD" || makers.length === 0 || makers.includes(undefined)) return response;
  if (makers.length > mostEncodings) throw new NetworkError("EPROTO", `the answer has ${makers.length} encodings`);
  let body: Readable = response;
  for (const make of makers.reverse()) {
    if (!make) continue;
    // An error of either ends the other; who reads the last is told.
    body = pipeline(body, make(), () => undefined);
  }
  return body;
}
