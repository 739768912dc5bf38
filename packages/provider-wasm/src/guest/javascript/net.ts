import { EventEmitter } from "./events.js";
import { fileError } from "./files.js";

const noNetwork = "there are no connections in this sandbox";

/** Node's `net`, whose every connection fails: programs that only could connect still run. */
class Socket extends EventEmitter {
  constructor(syscall: string) {
    super();
    const error = fileError("ENETUNREACH", syscall);
    error.message += `: ${noNetwork}`;
    queueMicrotask(() => this.emit("error", error));
  }

  destroy(): this {
    return this;
  }

  end(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  write(): boolean {
    return false;
  }
}

class Server extends EventEmitter {
  listen(): this {
    const error = fileError("EACCES", "listen");
    error.message += `: ${noNetwork}`;
    queueMicrotask(() => this.emit("error", error));
    return this;
  }

  close(): this {
    return this;
  }
}

const connect = (): Socket => new Socket("connect");

/** The module. */
export const net = { Socket, Server, connect, createConnection: connect, createServer: () => new Server() };
