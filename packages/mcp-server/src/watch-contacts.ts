import type { Sandbox } from "@sandkit/core";
import { ContactBudget, type ContactListener } from "./audit/contact-budget.js";

/** Who is told of what a sandbox contacts, by its backend's id. */
export type ContactWatcher = (sandbox: string) => ContactListener;

/** Tells of what a sandbox contacts, where its backend reports it. */
export function watchContacts(sandbox: Sandbox, listenerFor: ContactWatcher | undefined): void {
  if (listenerFor === undefined || !sandbox.capabilities.features["network.contacts"]) return;
  const budget = new ContactBudget(listenerFor(sandbox.ref.id));
  sandbox.onContact((contact) => budget.tell(contact));
}
