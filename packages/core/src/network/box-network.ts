import type { Duplex } from "node:stream";
import type { ServedNetwork } from "../agent/agent-session.js";
import type { Contact } from "./contact.js";
import type { EgressPolicy } from "./egress-policy.js";
import { EgressProxy } from "./egress-proxy.js";

/** What the programs of one box reach: the hosts of a policy, through the port at which its agent listens. */
export class BoxNetwork implements ServedNetwork {
  readonly port: number;
  readonly #proxy: EgressProxy;
  readonly #listeners = new Set<(contact: Contact) => void>();

  /** @throws TypeError naming an entry of the list that is none */
  constructor(policy: EgressPolicy, port: number) {
    this.port = port;
    this.#proxy = new EgressProxy({
      ...policy,
      onContact: (contact) => {
        for (const listener of this.#listeners) listener(contact);
      },
    });
  }

  accept(connection: Duplex): void {
    this.#proxy.accept(connection);
  }

  onContact(listener: (contact: Contact) => void): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    await this.#proxy.close();
  }
}
