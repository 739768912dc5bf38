import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Metrics } from "../observability/metrics.js";

/** Counts requests, connections and bytes of a server. */
export function countTraffic(server: Server, metrics: Metrics): void {
  const open = new Set<Socket>();
  const closed = { bytesRead: 0, bytesWritten: 0 };
  const total = (key: keyof typeof closed) => [...open].reduce((sum, socket) => sum + socket[key], closed[key]);
  const requests = metrics.counter("sandkit_http_requests_total", "Requests, by status of the answer.", "status");
  metrics.gauge("sandkit_http_connections", "Open connections.", () => open.size);
  metrics.reading("sandkit_http_received_bytes_total", "Received over HTTP.", () => total("bytesRead"));
  metrics.reading("sandkit_http_sent_bytes_total", "Sent over HTTP.", () => total("bytesWritten"));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      closed.bytesRead += socket.bytesRead;
      closed.bytesWritten += socket.bytesWritten;
    });
  });
  server.on("request", (_, response) => {
    response.once("close", () => requests.add(1, response.headersSent ? String(response.statusCode) : "none"));
  });
}
