import { SandboxError } from "@sandkit/core";
import { HttpFailure } from "../http/http-failure.js";

/** Which part of the service an error comes from. */
export type FailureSource = "DAYTONA_API" | "DAYTONA_PROXY" | "DAYTONA_DAEMON";

/** The body of every answer that is an error. */
export interface FailureBody {
  readonly statusCode: number;
  readonly message: string;
  readonly code: string;
  readonly source: FailureSource;
  readonly path: string;
  readonly method: string;
  readonly timestamp: string;
}

/** Thrown by handlers: an error as the service tells it. */
export class ApiFailure extends HttpFailure {
  readonly source: FailureSource;

  constructor(source: FailureSource, status: number, message: string, code?: string) {
    super(status, message, { code: code ?? codeOfStatus[status] ?? "INTERNAL_SERVER_ERROR" });
    this.source = source;
  }
}

const codeOfStatus: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  408: "REQUEST_TIMEOUT",
  409: "CONFLICT",
  410: "GONE",
  422: "UNPROCESSABLE_ENTITY",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  501: "NOT_IMPLEMENTED",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
};

/** An error of the control API. */
export function apiFailure(status: number, message: string): ApiFailure {
  return new ApiFailure("DAYTONA_API", status, message);
}

/** An error of the program in the sandbox. */
export function daemonFailure(status: number, message: string, code?: string): ApiFailure {
  return new ApiFailure("DAYTONA_DAEMON", status, message, code);
}

/** What a failure of the box's is called by the program in the sandbox. */
export function toApiFailure(error: unknown, source: FailureSource): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (error instanceof HttpFailure) return new ApiFailure(source, error.status, error.message, error.code);
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof SandboxError)) return new ApiFailure(source, 500, message);
  const [status, code] = statusOf[error.code] ?? [500];
  return new ApiFailure(source, status, message, code);
}

const statusOf: Readonly<Record<string, readonly [status: number, code?: string]>> = {
  FILE_NOT_FOUND: [404, "FILE_NOT_FOUND"],
  NOT_DIRECTORY: [400],
  IS_DIRECTORY: [400],
  INVALID: [400],
  FILE_EXISTS: [409],
  CONFLICT: [409],
  PERMISSION: [403, "FILE_ACCESS_DENIED"],
  QUOTA: [403],
  NO_SPACE: [500],
  TOO_LARGE: [400],
  UNSUPPORTED: [501],
  KERNEL_UNAVAILABLE: [501],
  UNAVAILABLE: [503],
  SANDBOX_LOST: [502],
  NOT_FOUND: [502],
  EXPIRED: [502],
};

/** The body that goes with a failure. */
export function failureBody(failure: ApiFailure, method: string, path: string): FailureBody {
  return {
    statusCode: failure.status,
    message: failure.message,
    code: failure.code ?? "INTERNAL_SERVER_ERROR",
    source: failure.source,
    path,
    method,
    timestamp: new Date().toISOString(),
  };
}
