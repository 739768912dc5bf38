import type { GuestRequest, RequestNews } from "../network/messages.js";
import type { FromGuest, ToGuest } from "../network/request-desk.js";

/** Who is told what becomes of a request. */
export interface RelayListener {
  news(news: RequestNews): void;
  /** The caller's process has taken so many bytes of the body. */
  sent(bytes: number): void;
}

/** The broker's end of the way to the network, which only the caller's process has: one for the sandbox. */
export class HttpRelay {
  readonly #send: (message: FromGuest) => void;
  readonly #open = new Map<number, RelayListener>();
  #nextId = 1;

  constructor(send: (message: FromGuest) => void) {
    this.#send = send;
  }

  /** Begins a request; its listener hears of it until its end, an error, or `close`. */
  open(request: GuestRequest, listener: RelayListener): RelayedRequest {
    const id = this.#nextId++;
    this.#open.set(id, listener);
    this.#send({ about: "open", id, request });
    return {
      body: (bytes, last) => this.#send({ about: "body", id, bytes, last }),
      taken: (bytes) => this.#send({ about: "taken", id, bytes }),
      close: () => {
        if (this.#open.delete(id)) this.#send({ about: "close", id });
      },
    };
  }

  receive(message: ToGuest): void {
    const listener = this.#open.get(message.id);
    if (message.about === "sent") {
      listener?.sent(message.bytes);
      return;
    }
    const { news } = message;
    if ("end" in news || "error" in news) this.#open.delete(message.id);
    listener?.news(news);
  }
}

/** One request that has begun. */
export interface RelayedRequest {
  body(bytes: Uint8Array, last: boolean): void;
  taken(bytes: number): void;
  /** Ends it, if it goes on still. */
  close(): void;
}
