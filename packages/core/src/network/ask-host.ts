import * as http from "node:http";
import type { Duplex } from "node:stream";
import type { AddressScope } from "./allow-list.js";
import { attemptMs } from "./connect-target.js";
import type { EgressContext } from "./egress-context.js";
import { NetworkError } from "./network-error.js";
import type { PlainRequest } from "./plain-request.js";

/** What a host answers; with `socket`, it goes on as another protocol. */
interface HostAnswer {
  readonly response: http.IncomingMessage;
  readonly socket?: { readonly stream: Duplex; readonly said: Buffer } | undefined;
}

/** A request to a host, and the beginning of its answer. */
export interface Asked {
  readonly request: http.ClientRequest;
  readonly answer: Promise<HostAnswer>;
}

/** Begins a request to a host at an address within the scope. Its body is to be written by the caller. */
export function askHost(
  { target: { host, port }, path, headers }: PlainRequest,
  { method, scope, agent }: { readonly method: string; readonly scope: AddressScope; readonly agent: http.Agent },
  { limits: { connectMs }, lookup }: EgressContext,
): Asked {
  const options: http.RequestOptions & { autoSelectFamilyAttemptTimeout: number } = {
    host,
    port,
    path,
    method,
    headers,
    agent,
    setHost: false,
    insecureHTTPParser: false,
    autoSelectFamilyAttemptTimeout: attemptMs,
    ...(scope !== "itself" && { lookup: lookup(scope) }),
  };
  const request = http.request(options);
  const timer = setTimeout(() => {
    request.destroy(new NetworkError("ETIMEDOUT", `${host}: no connection within ${connectMs} ms`));
  }, connectMs);
  const connected = () => clearTimeout(timer);
  request.once("close", connected);
  request.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", connected);
    else connected();
  });
  const answer = new Promise<HostAnswer>((resolve, reject) => {
    const closed = () => reject(new NetworkError("ECONNRESET", `${host}: the connection was closed`));
    request.once("close", closed);
    const answered = (found: HostAnswer) => {
      request.off("close", closed);
      resolve(found);
    };
    request.once("response", (response) => answered({ response }));
    request.once("upgrade", (response, stream, said) => answered({ response, socket: { stream, said } }));
    request.on("error", reject);
  });
  answer.catch(() => undefined);
  return { request, answer };
}
