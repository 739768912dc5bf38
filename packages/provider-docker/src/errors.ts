import { type ErrorCode, SandboxError } from "@sandkit/core";

/** Name of this provider, in refs and errors. */
export const providerName = "docker";

/** What a call was about, for its errors. */
export interface CallContext {
  readonly operation: string;
  /** What it was about, as the message calls it: `container sandkit-1`. */
  readonly subject: string;
  readonly sandboxId?: string | undefined;
}

/** Failures of the way to the engine: nobody answered there. */
const unreachable: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOENT",
  "EACCES",
  "EPERM",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ABORT_ERR",
  "ESSH",
]);

/** What the statuses of the engine's API mean; others are `UNAVAILABLE`. */
const statuses: Readonly<Record<number, { readonly code: ErrorCode; readonly next: string }>> = {
  400: { code: "INVALID", next: "the engine does not take these options: change what it names" },
  401: { code: "AUTH", next: "log in to the registry or engine (docker login)" },
  403: { code: "AUTH", next: "the engine's policy forbids it: ask whoever runs it" },
  404: { code: "NOT_FOUND", next: "it is gone: create a new sandbox" },
  409: { code: "CONFLICT", next: "something else is being done with it: try again" },
  429: { code: "RATE_LIMITED", next: "wait, then try again" },
};

/** Turns what the engine's client throws into an error of the contract: by status or errno, never by its words. */
export function engineError(reason: unknown, context: CallContext): SandboxError {
  if (reason instanceof SandboxError) return reason;
  const { operation, subject, sandboxId } = context;
  const details = { provider: providerName, operation, sandboxId, cause: reason };
  const status = statusOf(reason);
  if (status !== undefined) {
    const known = statuses[status] ?? { code: "UNAVAILABLE" as const, next: "see the engine's log" };
    const retryable = known.code === "CONFLICT" ? true : undefined;
    return new SandboxError(known.code, `${operation} ${subject}: the engine says: ${wordsOf(reason)}: ${known.next}`, {
      ...details,
      retryable,
    });
  }
  if (hasCode(reason, unreachable)) {
    const message = `${operation} ${subject}: the engine does not answer (${wordsOf(reason)}): check that it runs (docker info)`;
    return new SandboxError("UNAVAILABLE", message, details);
  }
  return new SandboxError("TRANSPORT", `${operation} ${subject}: ${wordsOf(reason)}: try again`, details);
}

/** Runs a call to the engine; whatever it throws leaves as a `SandboxError`. */
export async function onEngine<T>(context: CallContext, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (reason) {
    throw engineError(reason, context);
  }
}

/** An option or request that this provider does not honour. */
export function refusal(
  code: "UNSUPPORTED" | "INVALID" | "CONFLICT",
  message: string,
  operation = "create",
): SandboxError {
  return new SandboxError(code, message, { provider: providerName, operation });
}

/** What Podman gives as the cause, with status 500, when a container goes while it is asked about it. */
const goneMeanwhile = "no such container";

/** The HTTP status that the engine answered with, if it is that. */
export function statusOf(reason: unknown): number | undefined {
  if (!(reason instanceof Error) || !("statusCode" in reason)) return undefined;
  const body = "json" in reason ? reason.json : undefined;
  const isGone = body && typeof body === "object" && "cause" in body && body.cause === goneMeanwhile;
  if (isGone) return 404;
  return typeof reason.statusCode === "number" ? reason.statusCode : undefined;
}

function hasCode(reason: unknown, codes: ReadonlySet<string>): boolean {
  if (!(reason instanceof Error)) return false;
  return ("code" in reason && codes.has(String(reason.code))) || reason.name === "TimeoutError";
}

/** What anything thrown says, in one line. */
export function messageOf(reason: unknown): string {
  return (reason instanceof Error ? reason.message : String(reason)).replace(/\s*\n\s*/g, " ");
}

/** The engine's own words in one line, without what the client puts around them. */
export function wordsOf(reason: unknown): string {
  const body = reason instanceof Error && "json" in reason ? reason.json : undefined;
  const said = body && typeof body === "object" && "message" in body ? body.message : undefined;
  const text = typeof said === "string" ? said : reason instanceof Error ? reason.message : String(reason);
  return text
    .replace(/^\(HTTP code \d+\) [a-z ]+ - /, "")
    .trim()
    .replace(/\s*\n\s*/g, " ");
}
