import type { Target } from "./target.js";

/** One contact of a sandbox with a host, told once it is over. */
export interface Contact {
  /** The host that was asked for: a name, or an address. */
  readonly host: string;
  readonly port: number;
  /** What was spoken; `tcp` for what is neither of the others, and for what was refused before anything was said. */
  readonly protocol: ContactProtocol;
  readonly decision: "allowed" | "refused";
  /** Why it was refused, or why one that was allowed failed. */
  readonly reason?: string | undefined;
  /** Bytes from the host into the sandbox. */
  readonly bytesIn: number;
  /** Bytes out of the sandbox, to the host. */
  readonly bytesOut: number;
  /** When it began. */
  readonly at: Date;
}

/** `http`: one contact a request; the others: one a connection. */
export type ContactProtocol = "http" | "websocket" | "tls" | "tcp";

/** What the contacts of one sandbox share: who is told of them, and how many bytes they may be together. */
export class ContactBook {
  readonly #onContact: ((contact: Contact) => void) | undefined;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(onContact: ((contact: Contact) => void) | undefined, maxBytes = Number.POSITIVE_INFINITY) {
    this.#onContact = onContact;
    this.#maxBytes = maxBytes;
  }

  /** Why there is nothing left to be moved; undefined while there is. */
  get exhausted(): string | undefined {
    return this.#bytes >= this.#maxBytes
      ? `this sandbox has moved ${this.#maxBytes} bytes, which is the most that it may`
      : undefined;
  }

  /** Begins a contact. */
  open(target: Target, protocol: ContactProtocol): OpenContact {
    return new OpenContact(target, protocol, {
      count: (bytes) => {
        this.#bytes += bytes;
        return this.exhausted;
      },
      tell: (contact) => this.#tell(contact),
    });
  }

  /** A listener that fails is its owner's defect, which no guest may end their program by. */
  #tell(contact: Contact): void {
    try {
      this.#onContact?.(contact);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

interface Book {
  /** Why that was too much; undefined where it was not. */
  count(bytes: number): string | undefined;
  tell(contact: Contact): void;
}

/** A contact that is under way. */
export class OpenContact {
  readonly target: Target;
  readonly #book: Book;
  readonly #at = new Date();
  readonly #stop = new AbortController();
  #bytesIn = 0;
  #bytesOut = 0;
  #told = false;
  protocol: ContactProtocol;

  constructor(target: Target, protocol: ContactProtocol, book: Book) {
    this.target = target;
    this.protocol = protocol;
    this.#book = book;
  }

  /** Aborted once the sandbox has moved all that it may. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Counts bytes that came from the host. */
  received(bytes: number): void {
    this.#bytesIn += bytes;
    this.#count(bytes);
  }

  /** Counts bytes that go to the host. */
  sent(bytes: number): void {
    this.#bytesOut += bytes;
    this.#count(bytes);
  }

  /** It is over; with a reason, it failed. */
  end(reason?: string): void {
    this.#tell("allowed", reason ?? (this.signal.aborted ? String(this.signal.reason) : undefined));
  }

  refuse(reason: string): void {
    this.#tell("refused", reason);
  }

  #count(bytes: number): void {
    const exhausted = this.#book.count(bytes);
    if (exhausted !== undefined) this.#stop.abort(exhausted);
  }

  #tell(decision: Contact["decision"], reason: string | undefined): void {
    if (this.#told) return;
    this.#told = true;
    this.#book.tell({
      ...this.target,
      protocol: this.protocol,
      decision,
      ...(reason !== undefined && { reason }),
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      at: this.#at,
    });
  }
}
