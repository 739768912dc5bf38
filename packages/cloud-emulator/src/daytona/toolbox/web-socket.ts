import { type WebSocket, WebSocketServer } from "ws";
import type { Upgrade } from "../../http/listen.js";

const server = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  maxPayload: 256 * 1024 * 1024,
  // The service answers with one of the protocols that were offered.
  handleProtocols: (offered) => [...offered][0] ?? false,
});

/** Completes the handshake of a WebSocket, which says nothing until it is resumed: nothing it says is missed. */
export function acceptWebSocket({ request, socket, head }: Upgrade): Promise<WebSocket> {
  return new Promise((resolve) => {
    server.handleUpgrade(request, socket, head, (webSocket) => {
      // Whoever uses it hears of the close that follows.
      webSocket.on("error", () => webSocket.terminate());
      webSocket.pause();
      resolve(webSocket);
    });
  });
}

/** The protocols that a client offers. */
export function offeredProtocols({ request }: Upgrade): string[] {
  const header = request.headers["sec-websocket-protocol"] ?? "";
  return header
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Hands a frame over; resolves when it has left, or the client is gone. */
export function sendFrame(webSocket: WebSocket, data: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => {
    if (webSocket.readyState !== webSocket.OPEN) return resolve();
    // An error here is followed by the close of the socket, which its user hears of.
    webSocket.send(data, { binary: typeof data !== "string" }, () => resolve());
  });
}
