import { host } from "./globals.js";

/** In place of `node:zlib`: the worker does the work, and bounds what comes out. */
export const gzipSync = (bytes: Uint8Array): Uint8Array => run("gzip", bytes);
export const gunzipSync = (bytes: Uint8Array): Uint8Array => run("gunzip", bytes);
/** Asked for by name only. */
export const constants = {};

function run(kind: "gzip" | "gunzip", bytes: Uint8Array): Uint8Array {
  const length = host.compress(kind, bytes);
  if (length < 0) throw new Error(kind === "gunzip" ? "not in gzip format, damaged, or too large" : "too large");
  const result = new Uint8Array(length);
  host.takeCompressed(result);
  return result;
}
