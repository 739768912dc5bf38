import { UsageError } from "../../usage-error.js";

/** One side of a copy. */
export type Endpoint =
  | { readonly kind: "here"; readonly path: string }
  | { readonly kind: "stream" }
  | { readonly kind: "sandbox"; readonly reference: string; readonly path: string };

/** Reads `PATH`, `-` or `REF:PATH`. A drive of Windows (`C:\x`) and a path with a slash before its colon are ours. */
function endpointOf(text: string): Endpoint {
  if (text === "-") return { kind: "stream" };
  const [, reference, path] = text.match(/^([^/\\:]+):(.*)$/s) ?? [];
  const isDrive = reference !== undefined && /^[A-Za-z]$/.test(reference) && /^[\\/]/.test(path ?? "");
  if (reference === undefined || path === undefined || isDrive) return { kind: "here", path: text };
  return { kind: "sandbox", reference, path: path === "" ? "." : path };
}

/** Where something goes to that is called `name` where it comes from. */
export interface Target {
  readonly isFolder: boolean;
  readonly path: string;
  readonly name: string;
}

/** As cp has it: into a folder that is there, under its own name; otherwise to exactly that path. */
export function placeFor({ isFolder, path, name }: Target, join: (folder: string, name: string) => string): string {
  const usable = name !== "" && name !== "." && name !== ".." && name !== "/";
  return isFolder && usable ? join(path, name) : path;
}

/** @throws UsageError unless exactly one side is in a sandbox */
export function endpointsOf(positionals: readonly string[]): readonly [Endpoint, Endpoint] {
  const [from, to] = positionals.map(endpointOf);
  if (!from || !to) {
    throw new UsageError("a copy has two ends", [
      { text: "into a sandbox", command: "sandkit cp FILE REF:PATH" },
      { text: "out of one", command: "sandkit cp REF:PATH FILE" },
    ]);
  }
  const inside = [from, to].filter(({ kind }) => kind === "sandbox").length;
  if (inside === 1) return [from, to];
  throw new UsageError(inside === 0 ? "neither end is in a sandbox" : "both ends are in a sandbox", [
    inside === 0
      ? { text: "write one of them as", command: "REF:PATH" }
      : { text: "by way of a pipe", command: "sandkit cp REF:PATH - | sandkit cp - REF:PATH" },
  ]);
}
