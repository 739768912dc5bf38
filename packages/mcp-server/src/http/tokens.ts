import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ConfigError } from "../load-config.js";
import { type Principal, principalOf } from "../principal.js";

/** What RFC 6750 lets a header carry after `Bearer`. */
const carried = /^[A-Za-z0-9\-._~+/]+=*$/;
const named = /^([\w.@-]{1,64}):(.*)$/s;

interface Known {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** The tokens that open the server: each name is a principal, and so is each token without one. */
export class Tokens {
  readonly #known: readonly Known[];

  /**
   * @param tokens `secret` or `name:secret`; a name that comes twice is one principal with two tokens, so that one can
   *   be replaced by the other.
   * @param secret Signs handles instead of the tokens: they then outlive a change of token.
   * @throws ConfigError for a token that no client could send; it is not shown
   */
  constructor(tokens: readonly string[], secret?: string) {
    const principals = new Map<string, Principal>();
    this.#known = tokens.map((entry) => {
      const [, name, token = entry] = named.exec(entry) ?? [];
      if (!carried.test(token)) {
        const whose = name === undefined ? "" : ` for ${name}`;
        throw new ConfigError(
          `SANDKIT_TOKEN holds a character that a header cannot carry${whose}: use letters, digits, - and _`,
        );
      }
      const digest = sha256(token);
      const id = name ?? digest.toString("hex").slice(0, 16);
      // From the token: handles still verify after a restart, and are then told to be expired rather than unknown.
      const principal = principals.get(id) ?? principalOf(id, secret ?? `handles of ${token}`);
      principals.set(id, principal);
      return { digest, principal };
    });
  }

  /** Whose token it is, in a time that does not depend on it. */
  identify(token: string): Principal | undefined {
    const digest = sha256(token);
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
