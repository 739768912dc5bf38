import type { IncomingMessage } from "node:http";

/** One request as it came, and what became of it. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  /** Begins with `?`, or is empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** When it came, in milliseconds of the host's clock. */
  readonly at: number;
  /** Of the answer; absent while there is none. */
  status?: number;
  /** Absent while it is not over. */
  durationMs?: number;
  /** Whether it ended before the answer was complete. */
  aborted?: boolean;
  /** Whether a fault was laid on it. */
  fault: boolean;
}

/** Requests in the order they came: an array that forgets the oldest. */
export class RequestLog extends Array<LoggedRequest> {
  static override readonly [Symbol.species] = Array;

  /** Enters a request. */
  enter(request: IncomingMessage, url: URL): LoggedRequest {
    const entry: LoggedRequest = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.search,
      headers: { ...request.headers },
      at: Date.now(),
      fault: false,
    };
    if (this.length >= maxEntries) this.shift();
    this.push(entry);
    return entry;
  }
}

const maxEntries = 10_000;
