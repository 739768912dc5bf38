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

/** The handle of a sandbox: its id and a seal over it. */
export function sealHandle(principal: Principal, id: string): string {
  return `${id}.${seal(principal, id)}`;
}

/** True for a handle that was once given to this principal, whether or not its sandbox still lives. */
export function verifyHandle(principal: Principal, handle: string): boolean {
  const border = handle.lastIndexOf(".");
  if (border <= 0) return false;
  const given = Buffer.from(handle.slice(border + 1));
  const expected = Buffer.from(seal(principal, handle.slice(0, border)));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function seal(principal: Principal, id: string): string {
  return createHmac("sha256", principal.key).update(`${principal.id}\0${id}`).digest("base64url").slice(0, 12);
}
