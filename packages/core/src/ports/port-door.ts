import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { PortInfo } from "../provider.js";
import { firstBytesOf } from "./first-bytes-of.js";
import { isOwnPeer } from "./is-own-peer.js";

const maxConnections = 256;
/** How long a stranger may take to say something. */
const patienceMs = 10_000;
/** How long who is refused may take to go: its answer is lost to it when the connection breaks before it was read. */
const refusedMs = 2_000;
const tokenHeader = "x-sandkit-token";

/** What a door leads to. */
export interface DoorTarget {
  /** Connects to a server in a box. */
  readonly dial: () => Promise<Duplex>;
  /** Told of all that passes. */
  readonly onUse: () => void;
}

/**
 * A port of a box, as one of this machine's loopback. Who comes with HTTP is let in by the token: in a header, or as
 * the name before `.localhost` for browsers. Other protocols cannot carry one: there the client is to be of the same
 * user. What is let in passes byte for byte.
 */
export class PortDoor {
  readonly info: PortInfo;
  readonly #server: Server;
  readonly #token: Buffer;
  readonly #target: DoorTarget;
  readonly #sockets = new Set<Socket>();

  static async open(target: DoorTarget): Promise<PortDoor> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, "127.0.0.1");
    // A door alone is no reason for a program to go on.
    server.unref();
    server.maxConnections = maxConnections;
    await once(server, "listening");
    return new PortDoor(server, target);
  }

  private constructor(server: Server, target: DoorTarget) {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const token = randomBytes(20).toString("hex");
    this.#server = server;
    this.#target = target;
    this.#token = Buffer.from(token);
    this.info = { url: `http://127.0.0.1:${port}`, headers: { [tokenHeader]: token } };
    server.on("connection", (socket) => this.#receive(socket));
  }

  /** Ends all that is connected. Idempotent. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #receive(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // What breaks is told to the other side by `join`.
    socket.on("error", () => undefined);
    this.#serve(socket).catch(() => socket.destroy());
  }

  async #serve(socket: Socket): Promise<void> {
    const isOwn = await isOwnPeer(socket);
    if (!isOwn) socket.setTimeout(patienceMs, () => socket.destroy());
    // Where the server speaks first, nothing comes before it has.
    const early = isOwn ? this.#target.dial() : undefined;
    early?.then(
      (connection) => this.#carry(connection, socket),
      () => undefined,
    );
    const { kind, bytes } = await firstBytesOf(socket);
    if (kind === "http" ? !this.#knows(bytes) : !isOwn) {
      refuse(socket, 403, `the headers of its PortInfo are missing (${tokenHeader}); other protocols need its user`);
      (await early?.catch(() => undefined))?.destroy();
      return;
    }
    socket.setTimeout(0);
    try {
      const connection = await (early ?? this.#target.dial());
      if (!early) this.#carry(connection, socket);
      if (bytes.length > 0) connection.write(bytes);
      this.#carry(socket, connection);
      join(socket, connection);
    } catch (error) {
      if (kind === "other") socket.resetAndDestroy();
      else refuse(socket, 502, error instanceof Error ? error.message : String(error));
    }
  }

  #carry(from: Duplex, to: Duplex): void {
    from.on("data", this.#target.onUse);
    from.pipe(to);
  }

  /** Whether a head of a request has the token. */
  #knows(head: Buffer): boolean {
    const given = /^x-sandkit-token:[ \t]*(\S+)|^host:[ \t]*([^.\s]+)\.localhost(?::\d+)?[ \t]*\r?$/im;
    const [, inHeader, inName = ""] = given.exec(head.toString("latin1").split(/\r?\n\r?\n/, 1)[0] ?? "") ?? [];
    const token = Buffer.from(inHeader ?? inName);
    return token.length === this.#token.length && timingSafeEqual(token, this.#token);
  }
}

/** Breaks each side when the other one does. */
function join(socket: Socket, connection: Duplex): void {
  socket.once("close", (hadError) => hadError && connection.destroy());
  connection.once("error", () => socket.resetAndDestroy());
  if (socket.destroyed) connection.destroy();
}

function refuse(socket: Socket, status: number, why: string): void {
  const body = `sandkit: this port of a sandbox cannot be reached: ${why}\n`;
  const reason = status === 403 ? "Forbidden" : "Bad Gateway";
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  const limit = setTimeout(() => socket.destroy(), refusedMs);
  limit.unref();
  socket.once("close", () => clearTimeout(limit));
  // What still comes is of no interest.
  socket.resume().once("end", () => socket.destroySoon());
}
