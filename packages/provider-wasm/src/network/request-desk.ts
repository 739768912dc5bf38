import type { Exchange } from "./exchange.js";
import type { GuestRequest, RequestNews } from "./messages.js";
import type { SandboxNetwork } from "./sandbox-network.js";

/** From the sandbox's process to the caller's, about one request. */
export type FromGuest =
  | { readonly about: "open"; readonly id: number; readonly request: GuestRequest }
  /** A piece of the body. */
  | { readonly about: "body"; readonly id: number; readonly bytes: Uint8Array; readonly last: boolean }
  /** So many bytes of the answer have been taken. */
  | { readonly about: "taken"; readonly id: number; readonly bytes: number }
  | { readonly about: "close"; readonly id: number };

/** From the caller's process back. */
export type ToGuest =
  | { readonly about: "news"; readonly id: number; readonly news: RequestNews }
  /** So many bytes of the body have been taken. */
  | { readonly about: "sent"; readonly id: number; readonly bytes: number };

/** The broker lets each job have fewer: more than this is none of its doing. */
const mostRequests = 1024;

/** The requests of one sandbox by their numbers: between the messages of its process and its network. */
export class RequestDesk {
  readonly #network: SandboxNetwork;
  readonly #send: (message: ToGuest) => void;
  readonly #exchanges = new Map<number, Exchange>();

  constructor(network: SandboxNetwork, send: (message: ToGuest) => void) {
    this.#network = network;
    this.#send = send;
  }

  /** What is no such message comes from a process that is not ours any more, and does nothing. */
  receive(message: FromGuest): void {
    const { id } = message;
    if (!Number.isSafeInteger(id)) return;
    const exchange = this.#exchanges.get(id);
    if (message.about === "open") this.#open(id, message.request);
    else if (message.about === "body") {
      if (message.bytes instanceof Uint8Array) exchange?.send(message.bytes, message.last === true);
    } else if (message.about === "taken") {
      if (Number.isSafeInteger(message.bytes)) exchange?.taken(message.bytes);
    } else {
      this.#exchanges.delete(id);
      exchange?.close();
    }
  }

  /** Ends everything that is under way. */
  close(): void {
    this.#exchanges.clear();
    this.#network.close();
  }

  #open(id: number, request: GuestRequest): void {
    if (this.#exchanges.size >= mostRequests || this.#exchanges.has(id)) {
      const error = { code: "EBUSY", message: `more than ${mostRequests} requests are open` } as const;
      this.#send({ about: "news", id, news: { error } });
      return;
    }
    const exchange = this.#network.open(request, {
      news: (news) => {
        if (this.#exchanges.get(id) !== exchange) return;
        if ("end" in news || "error" in news) this.#exchanges.delete(id);
        this.#send({ about: "news", id, news });
      },
      sent: (bytes) => this.#send({ about: "sent", id, bytes }),
    });
    this.#exchanges.set(id, exchange);
  }
}
