import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Principal } from "../principal.js";

interface Known {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** The tokens that open the server; each is a principal of its own. */
export class Tokens {
  readonly #known: readonly Known[];

  constructor(tokens: readonly string[]) {
    this.#known = tokens.map((token) => {
      const digest = sha256(token);
      // From the token: handles still verify after a restart, and are then told to be expired rather than unknown.
      return { digest, principal: { id: digest.toString("hex").slice(0, 16), key: sha256(`handles of ${token}`) } };
    });
  }

  /** Whose request it is, in a time that does not depend on the token; undefined for no token and a wrong one. */
  identify(request: IncomingMessage): Principal | undefined {
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
    if (given === undefined) return undefined;
    const digest = sha256(given);
    const matches = this.#known.filter((known) => timingSafeEqual(known.digest, digest));
    return matches[0]?.principal;
  }
}

/** A token of 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
