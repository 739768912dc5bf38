import { connect, type Socket } from "node:net";
import type { AddressScope } from "./allow-list.js";
import type { EgressContext } from "./egress-context.js";
import { NetworkError } from "./network-error.js";
import type { Target } from "./target.js";

/** Of each address of a name, before the next one is tried. */
export const attemptMs = 1_000;

/**
 * Connects with a target at an address that lies within the scope: its name is looked up once, here.
 * @throws NetworkError, or what the system says
 */
export function connectTarget(
  { host, port }: Target,
  scope: AddressScope,
  { limits: { connectMs }, lookup }: EgressContext,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    ...(scope !== "itself" && { lookup: lookup(scope) }),
  });
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      settle();
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(new NetworkError("ETIMEDOUT", `${host}: no connection within ${connectMs} ms`));
    }, connectMs);
    const abort = () => fail(signal.reason);
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort, { once: true });
    // Stays: what fails later is told by whoever uses the connection.
    socket.on("error", fail);
    socket.once("connect", () => {
      settle();
      resolve(socket);
    });
  });
}
