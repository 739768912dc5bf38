/** The path of a `file:` URL. */
export function fileUrlPath(url: string | { readonly href: string }): string {
  const href = typeof url === "string" ? url : url?.href;
  const match = typeof href === "string" ? /^file:\/\/(?:localhost)?(\/[^?#]*)/.exec(href) : null;
  if (!match) throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" });
  return decodeURIComponent(match[1] ?? "");
}

/** The `file:` URL of an absolute path. */
export function fileUrl(path: string): string {
  return `file://${encodeURI(path).replaceAll("?", "%3F").replaceAll("#", "%23")}`;
}
