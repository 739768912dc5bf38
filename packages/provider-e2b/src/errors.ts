import { type ErrorCode, messageOf, SandboxError } from "@sandkit/core";

/** Name of this provider, in refs and errors. */
export const providerName = "e2b";

/** What a call was about, for its errors. */
export interface CallContext {
  readonly operation: string;
  /** What it was about, as the message calls it: `sandbox i3k…`. */
  readonly subject: string;
  readonly sandboxId?: string | undefined;
}

interface Meaning {
  readonly code: ErrorCode;
  /** What to do. */
  readonly next: string;
}

const askAgain = "try again in a moment";
const keyAdvice = "check E2B_API_KEY, or the option apiKey";

/** What the SDK's classes mean, by their names: not all of them have one base, and there may be two copies of them. */
const classes: Readonly<Record<string, Meaning>> = {
  AuthenticationError: { code: "AUTH", next: keyAdvice },
  RateLimitError: { code: "RATE_LIMITED", next: "wait, then try again" },
  ServiceBusyError: { code: "UNAVAILABLE", next: askAgain },
  InvalidArgumentError: { code: "INVALID", next: "E2B does not take these options: change what it names" },
  TemplateError: { code: "INVALID", next: "build the template again, with a new version of E2B's tools" },
  NotEnoughSpaceError: { code: "NO_SPACE", next: "remove files of the sandbox" },
  FileNotFoundError: { code: "FILE_NOT_FOUND", next: "check the path" },
  SandboxNotFoundError: { code: "NOT_FOUND", next: "create a new one" },
  NotFoundError: { code: "NOT_FOUND", next: "create a new one" },
  // The SDK's own: 502, a stream that was not taken, a sandbox that ended. What it is must be asked.
  TimeoutError: { code: "UNAVAILABLE", next: askAgain },
};

/** What the statuses of the API mean; others are `UNAVAILABLE`. */
const statuses: Readonly<Record<number, Meaning>> = {
  400: { code: "INVALID", next: "E2B does not take these options: change what it names" },
  401: { code: "AUTH", next: keyAdvice },
  403: { code: "AUTH", next: "this key or plan may not do that: ask the owner of the account" },
  404: { code: "NOT_FOUND", next: "check its name" },
  409: { code: "CONFLICT", next: "something else is being done with it: try again" },
  413: { code: "TOO_LARGE", next: "give less at one time" },
  429: { code: "RATE_LIMITED", next: "wait, then try again" },
  507: { code: "NO_SPACE", next: "remove files of the sandbox" },
};

/** The service says these of itself; the same call may succeed soon. */
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Turns what the SDK throws into an error of the contract: by class, status or errno. */
export function e2bError(reason: unknown, context: CallContext): SandboxError {
  if (reason instanceof SandboxError) return reason;
  const { operation, subject, sandboxId } = context;
  const details = { provider: providerName, operation, sandboxId, cause: reason };
  // Of a request whose time was up; the SDK gives it as it is.
  if (reason instanceof DOMException) {
    return new SandboxError("TIMEOUT", `${operation} ${subject}: E2B did not answer in time: ${askAgain}`, details);
  }
  const { code, next } = meaningOf(reason);
  const retryable = code === "CONFLICT" ? true : undefined;
  return new SandboxError(code, `${operation} ${subject}: ${wordsOf(reason)}: ${next}`, { ...details, retryable });
}

function meaningOf(reason: unknown): Meaning {
  const status = statusOf(reason);
  if (status === 429 && isQuota(reason)) {
    return { code: "QUOTA", next: "destroy one, or ask E2B for more at one time" };
  }
  const byStatus = status === undefined ? undefined : (statuses[status] ?? { code: "UNAVAILABLE", next: askAgain });
  const byClass = reason instanceof Error && Object.hasOwn(classes, reason.name) ? classes[reason.name] : undefined;
  if (byClass ?? byStatus) return byClass ?? byStatus ?? { code: "TRANSPORT", next: askAgain };
  if (wasNotReached(reason)) {
    return { code: "UNAVAILABLE", next: "check the network of this machine, and the options domain and apiUrl" };
  }
  return { code: "TRANSPORT", next: askAgain };
}

/** Nobody was connected to at that address. */
const unreachable: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Likewise when it is said of the connecting; of a connection that there was, they say that its answer was lost. */
const doubtful: ReadonlySet<string> = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

/** Whether the request has reached nobody. `fetch` keeps what went wrong with the connection underneath. */
function wasNotReached(reason: unknown): boolean {
  for (let error = reason; error instanceof Error; error = error.cause) {
    if (!("code" in error) || typeof error.code !== "string") continue;
    return unreachable.has(error.code) || (doubtful.has(error.code) && isOfConnecting(error));
  }
  return false;
}

/** Node tries the addresses of a host one after another, and tells of all of them. */
function isOfConnecting(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isOfConnecting);
  return error instanceof Error && "syscall" in error && error.syscall === "connect";
}

/** The status that the API answered with, where the SDK keeps it. */
function statusOf(reason: unknown): number | undefined {
  if (!(reason instanceof Error) || !("statusCode" in reason)) return undefined;
  return typeof reason.statusCode === "number" ? reason.statusCode : undefined;
}

/** Too many requests and too many sandboxes have one status and one class; only the words differ. */
function isQuota(reason: unknown): boolean {
  return /maximum number of concurrent|limit of concurrent|quota/i.test(messageOf(reason));
}

/** Whether the same call may succeed soon. */
export function isPassing(error: SandboxError): boolean {
  if (error.code === "TRANSPORT" || error.code === "TIMEOUT" || error.code === "RATE_LIMITED") return true;
  const status = statusOf(error.cause);
  if (error.cause instanceof Error && error.cause.name === "ServiceBusyError") return true;
  return status === undefined ? error.code === "UNAVAILABLE" : error.code !== "QUOTA" && passing.has(status);
}

/** Whether nothing was done: E2B refused the call, or was not reached. */
export function isRefusal(error: SandboxError): boolean {
  if (error.code === "RATE_LIMITED" || wasNotReached(error.cause)) return true;
  const name = error.cause instanceof Error ? error.cause.name : "";
  // The second: the SDK's word for a way that let nothing through, to a sandbox that is known to run.
  return name === "ServiceBusyError" || (name === "SandboxNotFoundError" && error.code === "UNAVAILABLE");
}

/** Whether it is known not to be there. */
export function isMissing(error: SandboxError): boolean {
  return error.code === "NOT_FOUND";
}

/** An option or request that this provider does not honour. */
export function refusal(
  code: "UNSUPPORTED" | "INVALID" | "CONFLICT" | "UNAVAILABLE" | "AUTH",
  message: string,
  operation = "create",
  sandboxId?: string,
): SandboxError {
  return new SandboxError(code, message, { provider: providerName, operation, sandboxId, retryable: false });
}

/** E2B's own words in one line, without what the SDK puts around them. */
function wordsOf(reason: unknown): string {
  const cause = reason instanceof TypeError && reason.cause instanceof Error ? `: ${reason.cause.message}` : "";
  return `${messageOf(reason)}${cause}`.trim().replace(/\s*\n\s*/g, " ");
}
