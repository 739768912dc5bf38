/** What bounds the connections of one sandbox. */
export interface EgressLimits {
  /** Connections at one time; more are answered with 503. Default 256. */
  readonly maxConnections: number;
  /** To a connection with the host: name and TCP. Default 10 s. */
  readonly connectMs: number;
  /** From a connection to the end of its first request's head, and to the end of what TLS says first. Default 10 s. */
  readonly headerMs: number;
  /** From an answer to the end of the next request's head on the same connection. Default 60 s. */
  readonly keepAliveMs: number;
  /** Without a byte either way, while a request or tunnel is under way. Default 5 min. */
  readonly idleMs: number;
  /** Bytes in both directions of all connections together, over the life of the proxy. Default: no end. */
  readonly maxBytes: number;
}

const defaultLimits: EgressLimits = {
  maxConnections: 256,
  connectMs: 10_000,
  headerMs: 10_000,
  keepAliveMs: 60_000,
  idleMs: 300_000,
  maxBytes: Number.POSITIVE_INFINITY,
};

/** The limits, with the defaults of those that are not given. */
export function limitsOf(given: Partial<EgressLimits> = {}): EgressLimits {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(set) };
}
