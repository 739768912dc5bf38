import type { IncomingMessage } from "node:http";
import { log } from "../observability/log.js";
import type { Principal } from "../principal.js";
import type { OAuthResource } from "./oauth-resource.js";
import { RateLimit } from "./rate-limit.js";
import { Refusal } from "./refusal.js";
import type { Tokens } from "./tokens.js";

/** Wrong tokens from one address in a minute, before it is told to wait. */
const guessesPerMinute = 60;

export interface GateOptions {
  readonly tokens: Tokens;
  /** Tokens of an authorization server, where they are accepted too. */
  readonly oauth: OAuthResource | undefined;
  readonly requestsPerMinute: number;
}

/** Lets in whoever has a token, and each of them only so often. */
export class Gate {
  readonly #options: GateOptions;
  readonly #requests: RateLimit;
  readonly #guesses = new RateLimit(guessesPerMinute);

  constructor(options: GateOptions) {
    this.#options = options;
    this.#requests = new RateLimit(options.requestsPerMinute);
  }

  /** @throws Refusal 401, 403, 429 or 503 */
  async admit(request: IncomingMessage): Promise<Principal> {
    const principal = await this.#identify(request);
    const waitSeconds = this.#requests.take(principal.id);
    if (waitSeconds > 0) throw tooMany("too many requests", waitSeconds);
    return principal;
  }

  async #identify(request: IncomingMessage): Promise<Principal> {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
    const { tokens, oauth } = this.#options;
    try {
      if (token === undefined) throw this.#unknown("");
      const known = tokens.identify(token);
      if (known !== undefined) return known;
      if (oauth === undefined)
        throw this.#unknown("this token is not one of the server (its own is new at each start): ");
      return await oauth.identify(token);
    } catch (error) {
      // Who has a good token is let in whatever others at the same address do.
      const guessed = error instanceof Refusal && error.status === 401 && token !== undefined;
      throw guessed ? this.#afterGuess(error, request) : error;
    }
  }

  #afterGuess(refusal: Refusal, { socket }: IncomingMessage): Refusal {
    const address = socket.remoteAddress ?? "";
    const waitSeconds = this.#guesses.take(address);
    if (waitSeconds > 0) return tooMany("too many wrong tokens", waitSeconds);
    log.warn("a wrong token was refused", { address });
    return refusal;
  }

  #unknown(reason: string): Refusal {
    const { oauth } = this.#options;
    if (oauth !== undefined) {
      const message = "send the header Authorization: Bearer <token>, with a token of the authorization server";
      return new Refusal(401, message, { "WWW-Authenticate": oauth.challenge() });
    }
    const message = "send the header Authorization: Bearer <token>, with the token printed at start or SANDKIT_TOKEN";
    return new Refusal(401, `${reason}${message}`, { "WWW-Authenticate": "Bearer" });
  }
}

function tooMany(what: string, seconds: number): Refusal {
  return new Refusal(429, `${what}: wait ${seconds} s`, { "Retry-After": String(seconds) });
}
