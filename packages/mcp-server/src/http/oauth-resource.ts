import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { type Principal, principalOf } from "../principal.js";
import { report } from "../report.js";
import type { OAuthSettings } from "./http-settings.js";
import { Refusal } from "./refusal.js";

/** Signed by a key whose other half only the issuer has: never `none`, never a shared secret. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const fetchMs = 5_000;
const clockToleranceSeconds = 30;

/** Where the metadata of a protected resource lies (RFC 9728); the resource's own path comes after it. */
export const metadataPath = "/.well-known/oauth-protected-resource";

export interface OAuthResourceOptions {
  readonly settings: OAuthSettings;
  /** The endpoint as clients know it. */
  readonly resource: URL;
  /** Signs the handles of sandboxes. */
  readonly secret: string;
}

/** This server as a resource that tokens of an authorization server open (OAuth 2.1, RFC 9068, RFC 9728). */
export class OAuthResource {
  readonly #settings: OAuthSettings;
  readonly #resource: URL;
  readonly #secret: string;
  #keys: Promise<JWTVerifyGetKey> | undefined;

  constructor({ settings, resource, secret }: OAuthResourceOptions) {
    this.#settings = settings;
    this.#resource = resource;
    this.#secret = secret;
  }

  /** The path of the endpoint as clients know it. */
  get path(): string {
    return this.#resource.pathname;
  }

  /** The document that tells clients where to get a token. */
  get metadata(): Record<string, unknown> {
    const { issuer, scopes } = this.#settings;
    return {
      resource: this.#resource.href,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      ...(scopes.length > 0 ? { scopes_supported: scopes } : {}),
      resource_name: "Sandkit",
    };
  }

  /** `WWW-Authenticate` for a request without a token. */
  challenge(more: Readonly<Record<string, string>> = {}): string {
    const { scopes } = this.#settings;
    const parts = {
      resource_metadata: `${this.#resource.origin}${metadataPath}${this.path}`,
      ...(scopes.length > 0 ? { scope: scopes.join(" ") } : {}),
      ...more,
    };
    return `Bearer ${Object.entries(parts)
      .map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, "'")}"`)
      .join(", ")}`;
  }

  /** @throws Refusal 401 for a token that is not good, 403 for one with too few scopes, 503 without the issuer's keys */
  async identify(token: string): Promise<Principal> {
    const claims = await this.#verify(token);
    const granted = scopesOf(claims);
    const missing = this.#settings.scopes.filter((scope) => !granted.includes(scope));
    if (missing.length > 0) {
      const message = `the token lacks the scope ${missing.join(" ")}`;
      const headers = {
        "WWW-Authenticate": this.challenge({ error: "insufficient_scope", error_description: message }),
      };
      throw new Refusal(403, `${message}: ask the authorization server for it`, headers);
    }
    const user = claims[this.#settings.userClaim];
    if (typeof user !== "string" || user === "") throw this.#bad(`it has no claim ${this.#settings.userClaim}`);
    return principalOf(`${this.#settings.issuer}#${user}`, this.#secret);
  }

  async #verify(token: string): Promise<JWTPayload> {
    // Imported here: a server without OAuth does not load it.
    const { errors, jwtVerify } = await import("jose");
    try {
      const { payload } = await jwtVerify(token, await this.#issuerKeys(), {
        algorithms,
        issuer: this.#settings.issuer,
        audience: this.#settings.audience ?? this.#resource.href,
        requiredClaims: ["exp"],
        clockTolerance: clockToleranceSeconds,
      });
      return payload;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const unreachable = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
      if (unreachable || !(error instanceof errors.JOSEError) || error.code === "ERR_JOSE_GENERIC") {
        throw this.#unavailable(error);
      }
      throw this.#bad(error.message);
    }
  }

  #issuerKeys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#findKeys().catch((error: unknown) => {
      this.#keys = undefined;
      throw this.#unavailable(error);
    });
    return this.#keys;
  }

  async #findKeys(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet } = await import("jose");
    const url = this.#settings.jwksUrl ?? (await jwksUrlOf(this.#settings.issuer));
    return createRemoteJWKSet(new URL(url), { timeoutDuration: fetchMs });
  }

  #bad(reason: string): Refusal {
    const headers = { "WWW-Authenticate": this.challenge({ error: "invalid_token", error_description: reason }) };
    return new Refusal(401, `the token is not good (${reason}): get one from the authorization server`, headers);
  }

  #unavailable(cause: unknown): Refusal {
    report(`the keys of ${this.#settings.issuer} cannot be had`, cause);
    return new Refusal(503, "the authorization server's keys cannot be had: try again", { "Retry-After": "5" });
  }
}

/** As its metadata tells, which is found in one of two places (RFC 8414, OpenID Connect Discovery). */
async function jwksUrlOf(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  const problems: string[] = [];
  for (const place of places) {
    const response = await fetch(place, { signal: AbortSignal.timeout(fetchMs), redirect: "error" });
    if (!response.ok) {
      problems.push(`${place}: status ${response.status}`);
      continue;
    }
    const document = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (document.issuer !== issuer) problems.push(`${place}: it speaks for another issuer`);
    else if (typeof document.jwks_uri !== "string") problems.push(`${place}: it has no jwks_uri`);
    else return document.jwks_uri;
  }
  throw new Error(`${problems.join("; ")}: set http.oauth.jwksUrl in the config`);
}

function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp;
  if (Array.isArray(given)) return given.filter((entry) => typeof entry === "string");
  return typeof given === "string" ? given.split(" ") : [];
}
