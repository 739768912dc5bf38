import type { ErrorCode } from "@sandkit/core";
import type { exitCodes } from "./exit-codes.js";
import type { Fix } from "./usage-error.js";

/** What a command will not or cannot do here, with the exit code that says who has to act. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: ErrorCode;
  readonly exitCode: keyof typeof exitCodes;
  readonly fix: readonly Fix[];

  constructor(
    code: ErrorCode,
    exitCode: keyof typeof exitCodes,
    message: string,
    fix: readonly Fix[],
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode;
    this.fix = fix;
  }
}
