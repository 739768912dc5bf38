import { type Duplex, finished } from "node:stream";
import type { OpenContact } from "./contact.js";
import { failureOf } from "./network-error.js";
import { endWith } from "./refusal.js";

/**
 * Moves bytes between a client and a host until both have ended, as fast as the slower one takes them. What the host
 * says goes to the client from the beginning; what the client says goes to the host from {@link forward} on.
 */
export class Relay {
  readonly #client: Duplex;
  readonly #host: Duplex;
  readonly #contact: OpenContact;
  readonly #idle: NodeJS.Timeout;
  #settle: ((reason: unknown) => void) | undefined;
  #open = 2;
  /** Resolves with why it failed, or undefined. */
  readonly over: Promise<unknown>;

  constructor(client: Duplex, host: Duplex, contact: OpenContact, idleMs: number) {
    this.#client = client;
    this.#host = host;
    this.#contact = contact;
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#idle = setTimeout(() => this.stop(`nothing came for ${idleMs} ms`), idleMs);
    this.#idle.unref();
    contact.signal.addEventListener("abort", () => this.stop(contact.signal.reason), { once: true });
    // A client that goes has what it wanted, or does not want it any more.
    finished(client, (error) => (error ? this.stop(undefined) : this.#ended()));
    finished(host, (error) => (error ? this.stop(error) : this.#ended()));
    host.on("data", (chunk: Buffer) => {
      this.#idle.refresh();
      contact.received(chunk.length);
    });
    host.pipe(client);
  }

  /** Lets the client's bytes through, after those that it has said already. */
  forward(said: Buffer): void {
    if (!this.#settle) return;
    if (said.length > 0) {
      this.#contact.sent(said.length);
      this.#host.write(said);
    }
    this.#client.on("data", (chunk: Buffer) => {
      this.#idle.refresh();
      this.#contact.sent(chunk.length);
    });
    this.#client.pipe(this.#host);
  }

  /** Ends both sides at once, for a reason that the client may be told by a last word. */
  stop(reason: unknown, lastWord?: Uint8Array | string): void {
    if (!this.#settle) return;
    this.#settle(reason);
    this.#settle = undefined;
    clearTimeout(this.#idle);
    this.#host.unpipe(this.#client);
    this.#host.destroy();
    if (lastWord === undefined) this.#client.destroy();
    else endWith(this.#client, lastWord);
  }

  #ended(): void {
    this.#open -= 1;
    if (this.#open === 0) this.stop(undefined);
  }
}

/** What is told of why a relay was over. */
export function reasonOf(reason: unknown, host: string): string | undefined {
  return reason === undefined || typeof reason === "string" ? reason : failureOf(reason, host).message;
}
