/** What is known of a failure besides its message. */
interface Details {
  readonly status?: number;
  readonly passing?: boolean;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Why something could not be fetched. */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** Whether another try may go better. */
  readonly passing: boolean;
  /** How long the host wants to be left alone. */
  readonly retryAfterMs: number;

  constructor(message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.passing = details.passing ?? false;
    this.retryAfterMs = details.retryAfterMs ?? 0;
  }
}
