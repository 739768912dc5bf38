import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Contact } from "../../src/network/contact.js";
import { EgressProxy, type EgressProxyOptions } from "../../src/network/egress-proxy.js";
import type { LookupSeams, Resolve } from "../../src/network/guarded-lookup.js";

/** Has a server listen on this machine. */
export async function listening<S extends Server>(server: S): Promise<{ server: S; port: number }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** Names that lead where a test wants them to. */
export const leadingTo =
  (...addresses: string[]): Resolve =>
  (_name, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };

/** Every name leads to this machine, which is the public internet. */
export const publicHere: LookupSeams = { resolve: leadingTo("127.0.0.1"), isPublic: (ip) => ip === "127.0.0.1" };

/** A proxy that can be reached by real connections. */
export class Proxied {
  readonly proxy: EgressProxy;
  readonly contacts: Contact[] = [];
  readonly #listener: Server;
  readonly #clients = new Set<Socket>();

  private constructor(options: EgressProxyOptions) {
    this.proxy = new EgressProxy({ onContact: (contact) => this.contacts.push(contact), ...options });
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.proxy.accept(socket));
  }

  static async start(options: EgressProxyOptions): Promise<Proxied> {
    const proxied = new Proxied(options);
    await listening(proxied.#listener);
    return proxied;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** A connection with the proxy. */
  connect(): Socket {
    const socket = connect({ port: this.port, host: "127.0.0.1", allowHalfOpen: true });
    this.#clients.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => this.#clients.delete(socket));
    return socket;
  }

  /** All that is answered to these pieces until the proxy ends the connection, or enough has come. */
  async say(pieces: string | readonly string[], until?: (answer: string) => boolean): Promise<string> {
    const socket = this.connect();
    let answer = "";
    const done = new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        answer += chunk.toString("latin1");
        if (until?.(answer)) resolve();
      });
      socket.on("end", resolve).on("close", resolve);
    });
    for (const piece of [pieces].flat()) {
      socket.write(piece, "latin1");
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    socket.destroy();
    return answer;
  }

  /** The answer to one request of an absolute address. */
  get(url: string, ...headers: readonly string[]): Promise<string> {
    const { host } = new URL(url);
    const lines = [`GET ${url} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...headers];
    return this.say(`${lines.join("\r\n")}\r\n\r\n`);
  }

  /** A tunnel, or the refusal of one. */
  async tunnel(authority: string): Promise<{ socket: Socket; status: number; head: string }> {
    const socket = this.connect();
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    let head = "";
    while (!head.includes("\r\n\r\n")) {
      const [chunk] = (await once(socket, "data")) as [Buffer];
      head += chunk.toString("latin1");
    }
    const end = head.indexOf("\r\n\r\n") + 4;
    socket.pause();
    if (head.length > end) socket.unshift(Buffer.from(head.slice(end), "latin1"));
    return { socket, head: head.slice(0, end), status: Number(head.split(" ")[1]) };
  }

  async stop(): Promise<void> {
    for (const socket of this.#clients) socket.destroy();
    await this.proxy.close();
    this.#listener.close();
  }
}

/** What comes until the other side ends. */
export async function rest(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.resume();
  if (!socket.readableEnded && !socket.destroyed) {
    await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  }
  return text;
}
