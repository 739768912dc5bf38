import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { SandboxError } from "@sandkit/core";
import { size } from "../result/text.js";

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
