import type { ErrorCode, SandboxError } from "@sandkit/core";

/** What an exit code means, for every command but those that run a program. */
export const exitCodes = {
  0: "done",
  1: "the answer is no",
  2: "wrong usage",
  3: "a person must fix the surroundings (key, engine, permission)",
  4: "try again (rate limit, transport, unavailable)",
  70: "a defect of sandkit",
  130: "interrupted",
} as const;

/** The same for a command that runs a program, whose own exit code is the answer. */
export const programExitCodes = {
  "0-255": "the program's own, unless one of these",
  2: "wrong usage of sandkit",
  124: "the program was ended at its deadline",
  126: "found but not executable",
  127: "not found in the sandbox",
  130: "interrupted",
  137: "the program used too much memory, or was killed",
  70: "a defect of sandkit",
} as const;

const byErrorCode = {
  AUTH: 3,
  QUOTA: 3,
  RATE_LIMITED: 4,
  NOT_FOUND: 1,
  CONFLICT: 1,
  EXPIRED: 1,
  UNSUPPORTED: 3,
  INVALID: 2,
  UNAVAILABLE: 3,
  TIMEOUT: 4,
  TRANSPORT: 4,
  SANDBOX_LOST: 4,
  FILE_NOT_FOUND: 2,
  FILE_EXISTS: 1,
  IS_DIRECTORY: 2,
  NOT_DIRECTORY: 2,
  PERMISSION: 3,
  NO_SPACE: 3,
  TOO_LARGE: 2,
  NOT_TEXT: 1,
  COMMAND_FAILED: 1,
  KERNEL_UNAVAILABLE: 3,
  DENIED: 1,
} as const satisfies Record<ErrorCode, keyof typeof exitCodes>;

/** The exit code of a command that failed with this error; what may work on a second try is always 4. */
export function exitCodeOf(error: SandboxError): number {
  return error.retryable ? 4 : byErrorCode[error.code];
}
