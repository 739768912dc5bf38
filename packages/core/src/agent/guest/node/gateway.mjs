import { once } from "node:events";
import { createServer } from "node:net";
import { maxConnections } from "./frames.mjs";

/** Accepted, of which all but some wait for their turn; Node can only drop what is beyond. */
const mostAccepted = 4096;

/** Where programs of the box find the network that the host serves. */
export class Gateway {
  #open;
  #server = null;
  #waiting = [];
  #served = 0;

  /** @param open Opens a stream to the host for a socket. */
  constructor(open) {
    this.#open = open;
  }

  /** @throws Error `EADDRINUSE` */
  async listen(port) {
    if (this.#server !== null) return;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    server.maxConnections = mostAccepted;
    server.on("connection", (socket) => {
      // Until it has its turn, what breaks it is nobody's business.
      socket.on("error", () => undefined);
      this.#waiting.push(socket);
      this.#serve();
    });
    server.listen({ host: "127.0.0.1", port, backlog: mostAccepted });
    await once(server, "listening");
    this.#server = server;
  }

  /** One of those that were served counts no more. */
  over() {
    this.#served -= 1;
    this.#serve();
  }

  #serve() {
    while (this.#served < maxConnections) {
      const socket = this.#waiting.shift();
      if (socket === undefined) return;
      if (socket.destroyed) continue;
      this.#served += 1;
      this.#open(socket);
    }
  }
}
