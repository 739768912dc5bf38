import { connect } from "node:net";
import { AgentFailure } from "./failure.mjs";
import { laneNumber } from "./frames.mjs";

const addresses = ["127.0.0.1", "::1"];

/** Moves the bytes of a socket to the host, and the host's to the socket. */
export class Connection {
  /** Resolves when nothing more goes either way. */
  over;
  #socket;
  #incoming;
  #outgoing;
  #onUse;
  #held = null;
  #ended = false;
  #wake = () => undefined;

  /** @param onUse Called for bytes, whoever sends them. */
  constructor(stream, socket, onUse = () => undefined) {
    this.#socket = socket;
    this.#incoming = stream.incoming.get(laneNumber.in);
    this.#outgoing = stream.outgoing.get(laneNumber.out);
    this.#onUse = onUse;
    socket.setNoDelay(true);
    const wake = () => this.#wake();
    socket.on("drain", wake).on("close", wake);
    this.over = this.#carry();
  }

  async #carry() {
    await Promise.all([this.#feed(), this.#drain()]);
    this.#socket.destroySoon();
  }

  /** What the host sends. */
  async #feed() {
    try {
      for (let bytes = await this.#incoming.next(); bytes !== null; bytes = await this.#incoming.next()) {
        this.#onUse();
        await this.#write(bytes);
        this.#incoming.handedOn(bytes.length);
      }
      if (!this.#socket.destroyed) this.#socket.end();
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      // The host has given it up.
      this.#socket.resetAndDestroy();
    }
  }

  async #write(bytes) {
    if (this.#socket.destroyed || this.#socket.write(bytes)) return;
    await new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** What the other end of the socket sends. */
  #drain() {
    const socket = this.#socket;
    return new Promise((resolve) => {
      this.#outgoing.onEnd = resolve;
      this.#outgoing.onRoom = () => this.#flush();
      socket.on("data", (bytes) => {
        this.#onUse();
        this.#held = bytes;
        this.#flush();
      });
      socket.on("end", () => {
        this.#ended = true;
        this.#flush();
      });
      socket.on("error", () => {
        this.#incoming.close();
        this.#outgoing.end(true);
      });
      // Of one that was given up.
      socket.on("close", () => {
        this.#incoming.close();
        if (!this.#ended) this.#outgoing.end(true);
      });
      socket.resume();
    });
  }

  #flush() {
    if (this.#outgoing.cancelled) {
      this.#outgoing.end();
      return;
    }
    if (this.#held !== null) {
      const piece = this.#held.subarray(0, Math.min(this.#held.length, this.#outgoing.room));
      this.#outgoing.send(piece);
      this.#held = piece.length === this.#held.length ? null : this.#held.subarray(piece.length);
      if (this.#held === null) this.#socket.resume();
      else this.#socket.pause();
    }
    if (this.#ended && this.#held === null) this.#outgoing.end();
  }
}

/** Connects to a server of the box. @throws AgentFailure `ECONNREFUSED` when there is none */
export async function connectHere(port) {
  let failure;
  for (const host of addresses) {
    try {
      return await connected(host, port);
    } catch (error) {
      failure ??= error;
    }
  }
  throw new AgentFailure(failure.code ?? "EIO", `nothing listens on port ${port} of ${addresses.join(" or ")}`);
}

function connected(host, port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket
        .on("error", () => undefined)
        .off("error", reject)
        .pause();
      resolve(socket);
    });
  });
}
