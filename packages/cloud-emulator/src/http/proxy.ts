import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.js";

/** Headers that belong to one connection. */
const hopByHop: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * Hands a request on over a connection to its server, and the answer back, with aborts both ways.
 * @param path With the query; default: as it came.
 */
export async function proxyRequest(
  exchange: Exchange,
  connection: Duplex,
  path = exchange.request.url ?? "/",
): Promise<void> {
  const onward = httpRequest({
    method: exchange.method,
    path,
    headers: endToEnd(exchange.request.headers),
    createConnection: () => connection,
  });
  const stop = () => connection.destroy();
  exchange.signal.addEventListener("abort", stop);
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      onward.on("response", resolve).on("error", reject);
      exchange.request.pipe(onward);
    });
    exchange.start(answer.statusCode ?? 502, endToEnd(answer.headers));
    for await (const chunk of answer) await exchange.write(chunk);
    await exchange.end();
  } finally {
    exchange.signal.removeEventListener("abort", stop);
    stop();
  }
}

/**
 * Hands an upgrade on, and from then on whatever either side says.
 * @param path With the query; default: as it came.
 */
export function proxyUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  connection: Duplex,
  path = request.url ?? "/",
): void {
  const fields: string[] = [];
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    fields.push(`${request.rawHeaders[index]}: ${request.rawHeaders[index + 1]}\r\n`);
  }
  connection.write(`${request.method} ${path} HTTP/1.1\r\n${fields.join("")}\r\n`);
  connection.write(head);
  const end = () => {
    socket.destroy();
    connection.destroy();
  };
  socket.on("close", end);
  connection.on("close", end).on("error", end);
  socket.pipe(connection).pipe(socket);
}

function endToEnd(headers: IncomingMessage["headers"]): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.includes(name)) kept[name] = value;
  }
  return kept;
}
