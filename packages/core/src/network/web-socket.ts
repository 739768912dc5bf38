import type { Agent, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Asked, askHost } from "./ask-host.js";
import type { OpenContact } from "./contact.js";
import type { EgressContext } from "./egress-context.js";
import { failureOf, NetworkError, refuses } from "./network-error.js";
import { endToEnd, headBytes, headerPairs, type PlainRequest, plainRequest, targetOfRequest } from "./plain-request.js";
import { endWith, linger, refusalText } from "./refusal.js";
import { Relay, reasonOf } from "./relay.js";
import type { Target } from "./target.js";

/** Whether a request that asks for another protocol asks for a WebSocket. All others may be answered without. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.trim().toLowerCase() === "websocket";
}

/** The head of a request without the wish for another protocol; the last of its connection. */
export function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const kept = headerPairs(rawHeaders).filter(([name]) => !/^(?:upgrade|connection|http2-settings)$/i.test(name));
  const lines = [...kept, ["Connection", "close"]].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${url} HTTP/${httpVersion}\r\n${lines.join("")}\r\n`;
}

/**
 * Serves a request for a WebSocket to its end. It becomes a tunnel only once its host has said so, before which nothing
 * of what the client sends besides goes to the host. Never rejects.
 */
export async function openWebSocket(
  client: Duplex,
  request: IncomingMessage,
  tunnel: Target | undefined,
  context: EgressContext,
  agent: Agent,
): Promise<void> {
  let contact: OpenContact | undefined;
  let asked: Asked | undefined;
  let host = "request";
  const leave = () => asked?.request.destroy(new NetworkError("ECONNRESET", "the client has gone"));
  client.once("close", leave);
  try {
    const target = targetOfRequest(request, tunnel);
    host = target.host;
    contact = context.book.open({ host, port: target.port }, "websocket");
    if (context.book.exhausted !== undefined) throw new NetworkError("EFBIG", context.book.exhausted);
    const plain = plainRequest(request, target);
    asked = ask(plain, context, agent);
    contact.sent(headBytes(plain.headers));
    await serve(client, asked, contact, context);
  } catch (error) {
    const failure = failureOf(error, host);
    if (refuses(failure)) contact?.refuse(failure.message);
    else contact?.end(failure.message);
    endWith(client, refusalText(failure));
  } finally {
    client.off("close", leave);
  }
}

function ask(plain: PlainRequest, context: EgressContext, agent: Agent): Asked {
  if (plain.hasBody) throw new NetworkError("EINVAL", "a request for a WebSocket has no body");
  const scope = context.judge.admit(plain.target);
  const headers = [...plain.headers, "Connection", "Upgrade", "Upgrade", "websocket"];
  const asked = askHost({ ...plain, headers }, { method: "GET", scope, agent }, context);
  const { idleMs } = context.limits;
  asked.request.setTimeout(idleMs, () => {
    asked.request.destroy(new NetworkError("ETIMEDOUT", `${plain.target.host}: nothing came for ${idleMs} ms`));
  });
  asked.request.end();
  return asked;
}

async function serve(client: Duplex, asked: Asked, contact: OpenContact, context: EgressContext): Promise<void> {
  const { response, socket } = await asked.answer;
  contact.received(headBytes(response.rawHeaders));
  if (socket && response.headers.upgrade?.toLowerCase() !== "websocket") {
    socket.stream.destroy();
    throw new NetworkError("EPROTO", "the host wants another protocol than WebSocket");
  }
  client.write(
    headOf(response, socket ? ["Connection: Upgrade", "Upgrade: websocket"] : ["Connection: close"]),
    "latin1",
  );
  if (socket) {
    asked.request.setTimeout(0);
    socket.stream.unshift(socket.said);
    const relay = new Relay(client, socket.stream, contact, context.limits.idleMs);
    relay.forward(Buffer.alloc(0));
    contact.end(reasonOf(await relay.over, contact.target.host));
    return;
  }
  response.on("data", (chunk: Buffer) => contact.received(chunk.length));
  client.resume();
  await pipeline(response, client, { signal: contact.signal });
  linger(client);
  contact.end();
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage, ending: readonly string[]): string {
  const lines = endToEnd(rawHeaders).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${[...lines, ...ending].join("\r\n")}\r\n\r\n`;
}
