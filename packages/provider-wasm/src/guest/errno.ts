import type { Pyodide } from "./emscripten.js";

/** Emscripten's number for an errno name; `EIO` for a name that it does not have. */
export function errno(python: Pyodide, name: string): number {
  return python.ERRNO_CODES[name] ?? 29;
}
