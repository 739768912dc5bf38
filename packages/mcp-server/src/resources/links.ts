import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import type { FileInfo } from "@sandkit/core";
import { mediaTypeOf } from "../media-type.js";

/** The streams of a run that can be read as resources; `output` is both in the order written. */
export const logStreams = ["output", "stdout", "stderr"] as const;

/** How the files of sandboxes are addressed. */
export const fileTemplate = {
  uriTemplate: "sandbox://{sandbox_id}/{+path}",
  name: "file",
  description: "A file below the working directory of a living sandbox, by its absolute path",
};

/** How the logs of runs are addressed. */
export const logTemplate = {
  uriTemplate: "run://{process}/{stream}",
  name: "log",
  description: `What a run has written: stream is ${logStreams.join(", ")}`,
  mimeType: "text/plain",
};

/** Longest address that is looked at, in characters: a path of the longest that systems know, each byte escaped. */
const maxUriChars = 3 * 4_096 + 256;

/** What a URI of this server names. */
export type Target =
  | { readonly kind: "file"; readonly handle: string; readonly path: string }
  | { readonly kind: "log"; readonly process: string; readonly stream: (typeof logStreams)[number] };

/** @throws ResourceNotFoundError for anything that is no address of a file or of a log, ProtocolError for one too long */
export function parseUri(uri: string): Target {
  if (uri.length > maxUriChars) {
    const message = `the URI has ${uri.length} characters, above the limit of ${maxUriChars}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const [, process, name] = /^run:\/\/([^/]+)\/([^/]+)$/.exec(uri) ?? [];
  const stream = logStreams.find((known) => known === name);
  if (process !== undefined && stream !== undefined) return { kind: "log", process, stream };
  const [, handle, path] = /^sandbox:\/\/([^/]+)(\/.+)$/s.exec(uri) ?? [];
  if (handle === undefined || path === undefined) throw new ResourceNotFoundError(uri);
  try {
    return { kind: "file", handle, path: decodeURIComponent(path) };
  } catch (error) {
    if (error instanceof URIError) throw new ResourceNotFoundError(uri);
    throw error;
  }
}

/** The address of a file of a sandbox. */
export function fileUri(handle: string, path: string): string {
  return `sandbox://${handle}${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The address of what a run writes. */
export function logUri(process: string, stream: (typeof logStreams)[number]): string {
  return `run://${process}/${stream}`;
}

/** A link to a file of a sandbox. */
export function linkTo(handle: string, file: Pick<FileInfo, "path" | "size">): CallToolResult["content"][number] {
  const mimeType = mediaTypeOf(file.path);
  return {
    type: "resource_link",
    uri: fileUri(handle, file.path),
    name: file.path.slice(file.path.lastIndexOf("/") + 1),
    size: file.size,
    ...(mimeType === undefined ? {} : { mimeType }),
  };
}

/** A link to all that a run has written. */
export function logLinkTo({ id }: { readonly id: string }): CallToolResult["content"][number] {
  return { type: "resource_link", uri: logUri(id, "output"), name: `${id} output`, mimeType: "text/plain" };
}
