import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Whoever calls: over stdio the one client, over HTTP the holder of a token. */
export interface Principal {
  /** Never shown to models. */
  readonly id: string;
  /** Signs handles: one that was not made for this principal does not verify. */
  readonly key: Uint8Array;
}

/** A principal whose handles die with this process. */
export function localPrincipal(id: string): Principal {
  return { id, key: randomBytes(32) };
}

/** A principal whose handles verify wherever the same secret is known: after a restart, and at another replica. */
export function principalOf(id: string, secret: string): Principal {
  return { id, key: createHmac("sha256", secret).update(id).digest() };
}

/** The handle of a sandbox: its id and a seal over it. */
export function sealHandle(principal: Principal, id: string): string {
  return `${id}.${seal(principal, id)}`;
}

/** The id of the sandbox, when this handle was once given to this principal, whether or not the sandbox still lives. */
export function openHandle(principal: Principal, handle: string): string | undefined {
  const border = handle.lastIndexOf(".");
  if (border <= 0) return undefined;
  const id = handle.slice(0, border);
  const given = Buffer.from(handle.slice(border + 1));
  const expected = Buffer.from(seal(principal, id));
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
}

/** What marks a sandbox at its backend as this principal's; it tells nothing of who that is. */
export function markOf(principal: Principal): string {
  return createHmac("sha256", principal.key).update("mark").digest("hex").slice(0, 32);
}

function seal(principal: Principal, id: string): string {
  return createHmac("sha256", principal.key).update(`${principal.id}\0${id}`).digest("base64url").slice(0, 12);
}
