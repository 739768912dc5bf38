import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connectTarget } from "./connect-target.js";
import type { OpenContact } from "./contact.js";
import type { EgressContext } from "./egress-context.js";
import { type FirstFlight, readFirstFlight } from "./first-flight.js";
import { objectionTo } from "./judge-flight.js";
import { failureOf, NetworkError, refuses } from "./network-error.js";
import { endWith, refusalText } from "./refusal.js";
import { Relay, reasonOf } from "./relay.js";
import type { Target } from "./target.js";

/** The answer to a `CONNECT` that is done. */
export const established = "HTTP/1.1 200 Connection established\r\n\r\n";
const tlsPort = 443;
/** A fatal alert of TLS: access is denied. */
const accessDenied = Uint8Array.from([21, 3, 3, 0, 2, 2, 49]);
const looksLikeHttp = /^[A-Z]{3,10} /;

/** Serves one `CONNECT` to its end. Never rejects. */
export async function openTunnel(client: Duplex, target: Target, context: EgressContext): Promise<void> {
  const contact = context.book.open(target, "tcp");
  const host = await connected(client, target, context, contact);
  if (!host) return;
  client.write(established);
  const { judge, limits } = context;
  const relay = new Relay(client, host, contact, limits.idleMs);
  if (judge.checksTunnels) {
    const isTls = target.port === tlsPort;
    const flight = await readFirstFlight(client, isTls ? limits.headerMs : undefined);
    if (flight.first.is === "client-hello" || flight.first.is === "malformed") contact.protocol = "tls";
    const objection = objectionTo(flight, target);
    if (objection === undefined) relay.forward(flight.bytes);
    else {
      const reason = `the tunnel to ${target.host}:${target.port} is refused: ${objection}`;
      contact.refuse(reason);
      relay.stop(reason, lastWordOn(flight, reason));
    }
  } else relay.forward(Buffer.alloc(0));
  contact.end(reasonOf(await relay.over, target.host));
}

/** A connection with the target; undefined when the client has been told why there is none. */
async function connected(
  client: Duplex,
  target: Target,
  context: EgressContext,
  contact: OpenContact,
): Promise<Socket | undefined> {
  const gone = new AbortController();
  const leave = () => gone.abort(new NetworkError("ECONNRESET", "the client has gone"));
  client.once("close", leave);
  try {
    const { exhausted } = context.book;
    if (exhausted !== undefined) throw new NetworkError("EFBIG", exhausted);
    return await connectTarget(target, context.judge.admit(target), context, gone.signal);
  } catch (error) {
    const failure = failureOf(error, target.host);
    if (refuses(failure)) contact.refuse(failure.message);
    else contact.end(failure.message);
    endWith(client, refusalText(failure));
    return undefined;
  } finally {
    client.off("close", leave);
  }
}

/** In the language that the client has begun to speak. */
function lastWordOn({ first, bytes }: FirstFlight, reason: string): Uint8Array | string | undefined {
  if (first.is === "client-hello" || first.is === "malformed") return accessDenied;
  return looksLikeHttp.test(bytes.toString("latin1", 0, 16))
    ? refusalText({ code: "EACCES", message: reason })
    : undefined;
}
