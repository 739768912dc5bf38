import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { type FileInfo, type Sandbox, SandboxError } from "@sandkit/core";
import { mediaTypeOf } from "./media-type.js";
import { size } from "./result/text.js";

/** How the files of sandboxes are addressed. */
export const fileTemplate = {
  uriTemplate: "sandbox://{sandbox_id}/{+path}",
  name: "file",
  description: "A file of a living sandbox, by its absolute path",
};

/** A link to a file of a sandbox. */
export function linkTo(handle: string, file: Pick<FileInfo, "path" | "size">): CallToolResult["content"][number] {
  const mimeType = mediaTypeOf(file.path);
  return {
    type: "resource_link",
    uri: `sandbox://${handle}${file.path.split("/").map(encodeURIComponent).join("/")}`,
    name: file.path.slice(file.path.lastIndexOf("/") + 1),
    size: file.size,
    ...(mimeType === undefined ? {} : { mimeType }),
  };
}

/** A link to all that a run under way has written. */
export function logLinkTo({ id }: { readonly id: string }): CallToolResult["content"][number] {
  return { type: "resource_link", uri: `run://${id}/output`, name: `${id} output`, mimeType: "text/plain" };
}

/** The sandbox and the path of a link. @throws ResourceNotFoundError for anything else */
export function parseLink(uri: string): { handle: string; path: string } {
  const [, handle, path] = /^sandbox:\/\/([^/]+)(\/.+)$/s.exec(uri) ?? [];
  if (handle === undefined || path === undefined) throw new ResourceNotFoundError(uri);
  try {
    return { handle, path: decodeURIComponent(path) };
  } catch (error) {
    if (error instanceof URIError) throw new ResourceNotFoundError(uri);
    throw error;
  }
}

/** The content of a linked file: text where it is text, else base64. */
export async function readLinked(sandbox: Sandbox, uri: string, path: string, maxBytes: number) {
  const bytes = await sandbox.files.read(path, { maxBytes });
  const mimeType = mediaTypeOf(path);
  const type = mimeType === undefined ? {} : { mimeType };
  try {
    return { contents: [{ uri, ...type, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }] };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { contents: [{ uri, ...type, blob: Buffer.from(bytes).toString("base64") }] };
  }
}

/** A failed read in the words of the protocol. */
export function resourceError(uri: string, error: unknown, maxBytes: number): Error {
  if (error instanceof ProtocolError) return error;
  if (!(error instanceof SandboxError)) return error instanceof Error ? error : new Error(String(error));
  if (error.code === "FILE_NOT_FOUND") return new ResourceNotFoundError(uri);
  const message =
    error.code === "TOO_LARGE"
      ? `${uri} is above the ${size(maxBytes)} that are read at once: read it in parts with the tool read_file`
      : error.message;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.code}: ${message}`, error.toJSON());
}
