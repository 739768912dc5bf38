import { Buffer } from "./buffer.js";
import { resolve } from "./path.js";
import { fileUrlPath } from "./url.js";

/** A path as programs give it. */
export type Path = string | Uint8Array | { readonly href: string };

/** The absolute path of one. @throws TypeError for what no path can hold */
export function pathOf(path: Path): string {
  const text =
    typeof path === "string" ? path : path instanceof Uint8Array ? Buffer.from(path).toString() : fileUrlPath(path);
  if (text.includes("\0")) {
    const error = new TypeError("The argument 'path' must be a string without null bytes");
    throw Object.assign(error, { code: "ERR_INVALID_ARG_VALUE" });
  }
  return resolve(text);
}
