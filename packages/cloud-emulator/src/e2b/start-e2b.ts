import { randomBytes } from "node:crypto";
import { Clock } from "../clock.js";
import { Faults } from "../faults.js";
import { listen } from "../http/listen.js";
import { type LoggedRequest, RequestLog } from "../request-log.js";
import { ControlApi } from "./control.js";
import { Edge } from "./edge.js";
import type { E2BOptions } from "./options.js";
import { faithful } from "./quirks.js";
import { Sandboxes } from "./sandboxes.js";

/** A running emulator. Disposing it ends all of its sandboxes. */
export interface E2BEmulator extends AsyncDisposable {
  /** For both `apiUrl` and `sandboxUrl` of the SDK. */
  readonly url: string;
  /** The first of the keys that it takes. */
  readonly apiKey: string;
  /** Everything that was asked of it. */
  readonly requests: readonly LoggedRequest[];
  readonly faults: Faults;
  /** The time that lifetimes are counted in. */
  readonly clock: Clock;
  /** Ends all sandboxes, those that are being made too, and stops listening. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a server that speaks E2B's control API and, for the port of a sandbox that headers or the host name, envd or
 * what listens there; machines are made by a Sandkit provider, and everything in them really runs.
 *
 * It differs from the service, beside isolation and sizes, in this: the users `user` and `root` are both the one user
 * of the box; a snapshot and a fork take the home folder along, not the memory; templates are the provider's.
 */
export async function startE2B(options: E2BOptions): Promise<E2BEmulator> {
  const clock = options.clock ?? new Clock();
  const faults = new Faults(options.faults);
  const requests = new RequestLog();
  const keys = options.apiKeys ?? [`e2b_${randomBytes(20).toString("hex")}`];
  const sandboxes = new Sandboxes(options, clock, { ...faithful, ...options.quirks });
  const edge = new Edge(sandboxes, new ControlApi(sandboxes, keys, options.network === "record"));
  const server = await listen({
    host: options.host,
    port: options.port,
    faults,
    requests,
    handle: (exchange) => edge.handle(exchange),
    upgrade: (upgrade) => edge.upgrade(upgrade),
    failed: (exchange, error) => edge.failed(exchange, error),
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= sandboxes.close().finally(() => server.close());
    return closing;
  };
  return { url: server.url, apiKey: keys[0] ?? "", requests, faults, clock, close, [Symbol.asyncDispose]: close };
}
