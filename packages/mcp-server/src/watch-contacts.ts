import type { Contact, Sandbox } from "@sandkit/core";

/** Tells of what a sandbox contacts, by its backend's id, where that backend reports it. */
export function watchContacts(
  sandbox: Sandbox,
  onContact: ((sandbox: string, contact: Contact) => void) | undefined,
): void {
  if (onContact === undefined || !sandbox.capabilities.features["network.contacts"]) return;
  sandbox.onContact((contact) => onContact(sandbox.ref.id, contact));
}
