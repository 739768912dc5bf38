import { createHash } from "node:crypto";

/** What the signature of an address of a file covers. */
export interface SignedAccess {
  readonly path: string;
  readonly operation: "read" | "write";
  /** Empty for the default one. */
  readonly user: string;
  readonly token: string;
  /** Seconds since 1970, where it ends. */
  readonly expiration?: string | undefined;
}

/** The signature that lets a request in without the token itself. */
export function signatureOf({ path, operation, user, token, expiration }: SignedAccess): string {
  const parts = [path, operation, user, token, ...(expiration === undefined ? [] : [expiration])];
  return `v1_${createHash("sha256").update(parts.join(":")).digest("base64").replace(/=+$/, "")}`;
}
