import { type ErrorCode, SandboxError } from "@sandkit/core";

/** Name of this provider, in refs and errors. */
export const providerName = "daytona";

/** What a call was about, for its errors. */
export interface CallContext {
  readonly operation: string;
  /** What it was about, as the message calls it: `sandbox 1`. */
  readonly subject: string;
  readonly sandboxId?: string | undefined;
}

interface Meaning {
  readonly code: ErrorCode;
  readonly next: string;
  readonly retryable?: boolean;
}

const dashboard = "https://app.daytona.io/dashboard";
const transient: Meaning = { code: "UNAVAILABLE", next: "try again in a moment" };

/** Nearly always what forbids a creation: Daytona's versions differ in how they say it. */
const tooMany: Meaning = {
  code: "QUOTA",
  next: `destroy sandboxes, raise the limits (${dashboard}/limits), or give the key the permission (${dashboard}/keys)`,
};

/** What codes in the bodies of Daytona's answers mean, where they say more than the status. */
const codes: Readonly<Record<string, Meaning>> = {
  FILE_NOT_FOUND: { code: "FILE_NOT_FOUND", next: "check the path" },
  FILE_ACCESS_DENIED: { code: "PERMISSION", next: "the sandbox's user may not do that" },
  INVALID_FILE_PATH: { code: "INVALID", next: "correct the path" },
  QUOTA_EXCEEDED: tooMany,
};

/** What the statuses of Daytona's services mean; others are `UNAVAILABLE`. */
const statuses: Readonly<Record<number, Meaning>> = {
  400: { code: "INVALID", next: "change what it names" },
  401: { code: "AUTH", next: `set DAYTONA_API_KEY to a key that is valid (${dashboard}/keys)` },
  402: tooMany,
  403: { code: "AUTH", next: `give the key the permission (${dashboard}/keys)` },
  404: { code: "NOT_FOUND", next: "it is gone: create a new sandbox" },
  408: { code: "TIMEOUT", next: "try again" },
  409: { code: "CONFLICT", next: "something else is being done with it: try again", retryable: true },
  410: { code: "NOT_FOUND", next: "it is gone: create a new sandbox" },
  413: { code: "TOO_LARGE", next: "send less" },
  422: { code: "INVALID", next: "change what it names" },
  429: { code: "RATE_LIMITED", next: "wait, then try again" },
  500: transient,
  502: transient,
  503: transient,
  504: transient,
  507: { code: "NO_SPACE", next: "remove files, or give the sandbox a larger disk" },
};

/** What the SDK's classes mean where no service has answered. */
const classes: Readonly<Record<string, Meaning>> = {
  DaytonaAuthenticationError: { code: "AUTH", next: "set DAYTONA_API_KEY" },
  DaytonaInvalidArgumentError: { code: "INVALID", next: "change what it names" },
  DaytonaValidationError: { code: "INVALID", next: "change what it names" },
  DaytonaTimeoutError: { code: "TIMEOUT", next: "try again, with more time" },
  DaytonaConnectionTimeoutError: { code: "TIMEOUT", next: "try again" },
  DaytonaConnectionError: { code: "TRANSPORT", next: "check the network and the option apiUrl, then try again" },
};

/** Statuses where the same request may succeed in a moment. */
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** What Daytona or its SDK said, as far as it concerns us. */
interface Failure {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly className: string;
  readonly words: string;
  readonly retryAfterMs?: number | undefined;
}

/** Turns what the SDK throws into an error of the contract: by code, status or class, never by its words. */
export function daytonaError(reason: unknown, { operation, subject, sandboxId }: CallContext): SandboxError {
  if (reason instanceof SandboxError) return reason;
  const failure = failureOf(reason);
  const meaning = operation === "create" && failure.status === 403 ? tooMany : meaningOf(failure);
  return new SandboxError(meaning.code, `${operation} ${subject}: Daytona: ${failure.words}: ${meaning.next}`, {
    provider: providerName,
    operation,
    sandboxId,
    retryable: meaning.retryable,
    retryAfterMs: failure.retryAfterMs,
    cause: reason,
  });
}

/** An option or request that this provider does not honour. */
export function refusal(
  code: "UNSUPPORTED" | "INVALID" | "CONFLICT",
  message: string,
  operation = "create",
): SandboxError {
  return new SandboxError(code, message, { provider: providerName, operation });
}

/** The HTTP status that Daytona answered with; undefined when it did not answer. */
export function statusOf(reason: unknown): number | undefined {
  return failureOf(reason instanceof SandboxError ? reason.cause : reason).status;
}

/** Whether the same request may succeed in a moment: nobody answered, or somebody who was too busy. */
export function isPassing(reason: unknown): boolean {
  const { status, className } = failureOf(reason instanceof SandboxError ? reason.cause : reason);
  return status === undefined ? className.startsWith("DaytonaConnection") : passing.has(status);
}

/** How long Daytona asks to wait, in milliseconds. */
export function retryAfterOf(reason: unknown): number | undefined {
  return failureOf(reason instanceof SandboxError ? reason.cause : reason).retryAfterMs;
}

function meaningOf({ status, code, className }: Failure): Meaning {
  const byCode = code !== undefined && Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (byCode) return byCode;
  if (status !== undefined) return statuses[status] ?? (status < 500 ? invalid(status) : transient);
  return (Object.hasOwn(classes, className) ? classes[className] : undefined) ?? transient;
}

function invalid(status: number): Meaning {
  return { code: "INVALID", next: `Daytona refused the request with status ${status}` };
}

function failureOf(reason: unknown): Failure {
  if (!(reason instanceof Error)) return { className: "", words: String(reason) };
  const [status, code, headers] = ["statusCode", "code", "headers"].map((name) => Reflect.get(reason, name));
  return {
    status: typeof status === "number" ? status : undefined,
    code: typeof code === "string" ? code : undefined,
    className: reason.name,
    words: wordsOf(reason),
    retryAfterMs: retryAfter(headers),
  };
}

const mostWords = 500;

/** In one line: a proxy on the way may answer with a page. */
function wordsOf(reason: Error): string {
  // What the SDK makes of a socket's error.
  if (reason.message === "[object Object]") return "the connection was refused or broke";
  const line = reason.message.replace(/\s+/g, " ").trim();
  return line.length > mostWords ? `${line.slice(0, mostWords)}…` : line || reason.name;
}

/** The header, or the one for a kind of request (`retry-after-sandbox-create`): seconds, or a date. */
function retryAfter(headers: unknown): number | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  const waits = Object.entries(headers)
    .filter(([name]) => name.toLowerCase().startsWith("retry-after"))
    .map(([, value]) =>
      /^\d+(\.\d+)?$/.test(String(value)) ? Number(value) * 1000 : Date.parse(String(value)) - Date.now(),
    )
    .filter((ms) => Number.isFinite(ms));
  return waits.length > 0 ? Math.max(0, ...waits) : undefined;
}
