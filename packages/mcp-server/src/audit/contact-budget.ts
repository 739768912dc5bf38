import type { Contact } from "@sandkit/core";

/** Contacts of one sandbox that are told one by one: so many at once, and so many more in each second. */
const [burst, perSecond] = [1_000, 10];
const summaryMs = 1_000;

/** Contacts that were not told one by one. */
export interface OmittedContacts {
  readonly allowed: number;
  readonly refused: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** When the first of them began. */
  readonly at: Date;
}

/** Who is told of contacts. */
export interface ContactListener {
  contact(contact: Contact): void;
  /** The sum of those that were too many. */
  omitted(contacts: OmittedContacts): void;
}

/**
 * Bounds what is told of the contacts of one sandbox: code in it makes as many as it likes, and each would be a line on
 * the disk of this machine. Those that are too many are told as a sum, which leaves none out.
 */
export class ContactBudget {
  readonly #listener: ContactListener;
  #left = burst;
  #countedAt = performance.now();
  #omitted: OmittedContacts | undefined;

  constructor(listener: ContactListener) {
    this.#listener = listener;
  }

  tell(contact: Contact): void {
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#countedAt) / 1_000) * perSecond);
    this.#countedAt = now;
    if (this.#left >= 1) {
      this.#left -= 1;
      this.#listener.contact(contact);
    } else this.#omit(contact);
  }

  #omit({ decision, bytesIn, bytesOut, at }: Contact): void {
    const before = this.#omitted;
    if (!before) setTimeout(() => this.#sum(), summaryMs).unref();
    this.#omitted = {
      allowed: (before?.allowed ?? 0) + (decision === "allowed" ? 1 : 0),
      refused: (before?.refused ?? 0) + (decision === "refused" ? 1 : 0),
      bytesIn: (before?.bytesIn ?? 0) + bytesIn,
      bytesOut: (before?.bytesOut ?? 0) + bytesOut,
      at: before?.at ?? at,
    };
  }

  #sum(): void {
    if (this.#omitted) this.#listener.omitted(this.#omitted);
    this.#omitted = undefined;
  }
}
