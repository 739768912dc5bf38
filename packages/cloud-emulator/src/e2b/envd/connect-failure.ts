/** The codes of the Connect protocol, and the status that goes with each in a unary answer. */
export const statusOfCode = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  data_loss: 500,
  unauthenticated: 401,
} as const;

/** A code of the Connect protocol. */
export type ConnectCode = keyof typeof statusOfCode;

/** Thrown by a method of a Connect service. */
export class ConnectFailure extends Error {
  override readonly name = "ConnectFailure";
  readonly code: ConnectCode;

  constructor(code: ConnectCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
