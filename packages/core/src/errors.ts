import type { ExecResult } from "./exec.js";
import type { PackageFailure } from "./packages/package-failure.js";

/** Every kind of failure, closed: there are no provider-defined codes. */
export const errorCodes = [
  "AUTH",
  "QUOTA",
  "RATE_LIMITED",
  "NOT_FOUND",
  "CONFLICT",
  "EXPIRED",
  "UNSUPPORTED",
  "INVALID",
  "UNAVAILABLE",
  "TIMEOUT",
  "TRANSPORT",
  "SANDBOX_LOST",
  "FILE_NOT_FOUND",
  "FILE_EXISTS",
  "IS_DIRECTORY",
  "NOT_DIRECTORY",
  "PERMISSION",
  "NO_SPACE",
  "TOO_LARGE",
  "NOT_TEXT",
  "COMMAND_FAILED",
  "KERNEL_UNAVAILABLE",
  "DENIED",
] as const;

/** The kind of a {@link SandboxError}. */
export type ErrorCode = (typeof errorCodes)[number];

/** Codes where the same call may succeed later with nothing changed. */
const retryableByDefault: ReadonlySet<ErrorCode> = new Set([
  "QUOTA",
  "RATE_LIMITED",
  "UNAVAILABLE",
  "TIMEOUT",
  "TRANSPORT",
]);

/** What a {@link SandboxError} knows beside its code and message. */
export interface SandboxErrorDetails {
  /** Name of the provider that failed, where there is one. */
  readonly provider?: string | undefined;
  /** The call that failed, in the words of the API: `create`, `exec`, `files.read`. */
  readonly operation?: string | undefined;
  /** Id of the sandbox concerned. */
  readonly sandboxId?: string | undefined;
  /** Overrides the default that goes with the code. */
  readonly retryable?: boolean | undefined;
  /** When a retry makes sense, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** The result of a command that ran, for `COMMAND_FAILED`. */
  readonly result?: ExecResult | undefined;
  /** Which package could not be installed, and why. */
  readonly packageFailure?: PackageFailure | undefined;
  /** What was underneath; always kept. */
  readonly cause?: unknown;
}

const brand = Symbol.for("sandkit.SandboxError");

/**
 * The one error class of Sandkit. `code` says what kind, the message what failed, on what, and what to do next.
 * A command that ran is never an error of this kind: its exit code, timeout or abort is a result.
 */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: ErrorCode;
  /** True when the same call may succeed later with nothing changed. */
  readonly retryable: boolean;
  /** Name of the provider that failed, where there is one. */
  readonly provider: string | undefined;
  /** The call that failed, in the words of the API: `create`, `exec`, `files.read`. */
  readonly operation: string | undefined;
  readonly sandboxId: string | undefined;
  /** When a retry makes sense, in milliseconds from when it was thrown; often unknown. */
  readonly retryAfterMs: number | undefined;
  /** The result of a command that ran, with `COMMAND_FAILED`. */
  readonly result: ExecResult | undefined;
  /** Which package could not be installed, and why. */
  readonly packageFailure: PackageFailure | undefined;

  constructor(code: ErrorCode, message: string, details: SandboxErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? retryableByDefault.has(code);
    this.provider = details.provider;
    this.operation = details.operation;
    this.sandboxId = details.sandboxId;
    this.retryAfterMs = details.retryAfterMs;
    this.result = details.result;
    this.packageFailure = details.packageFailure;
    Object.defineProperty(this, brand, { value: true });
  }

  /** True for errors of any installed copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && brand in value;
  }

  /** Plain data for logs and wire formats. */
  toJSON(): Record<string, unknown> {
    return {
      code: this.code,
      message: this.message,
      provider: this.provider,
      operation: this.operation,
      sandboxId: this.sandboxId,
      retryable: this.retryable,
      retryAfterMs: this.retryAfterMs,
      packageFailure: this.packageFailure,
    };
  }
}

/** Turns anything thrown into a {@link SandboxError}; one that is already passes through unchanged. */
export function toSandboxError(reason: unknown, fallback: ErrorCode, details: SandboxErrorDetails = {}): SandboxError {
  if (reason instanceof SandboxError) return reason;
  return new SandboxError(fallback, messageOf(reason), { ...details, cause: reason });
}

/** What anything thrown says. */
export function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
