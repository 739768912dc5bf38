import { extname } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".py": "text/x-python",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".webp": "image/webp",
  ".xml": "application/xml",
};

/** The media type that a file's name tells; undefined when it tells none. */
export function mediaTypeOf(path: string): string | undefined {
  if (path.endsWith(".plotly.json")) return "application/vnd.plotly.v1+json";
  return types[extname(path).toLowerCase()];
}
