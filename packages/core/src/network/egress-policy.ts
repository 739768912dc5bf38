import { isIP } from "node:net";
import { type AddressScope, AllowList } from "./allow-list.js";
import { NetworkError, notListed } from "./network-error.js";
import { isPublicAddress } from "./public-address.js";
import { entryFor, type Target } from "./target.js";

/** Which hosts a sandbox may be connected with. */
export interface EgressPolicy {
  /** `"public"`: every public address, at any port. */
  readonly allow: readonly string[] | "public";
  /** Hosts of the caller's own that may be asked besides, and may lie in a private network. */
  readonly inner?: readonly string[] | undefined;
}

/** Decides which targets may be connected with, and where they may lie. */
export class EgressJudge {
  /** Whether tunnels are held to the name that they were opened for. Where every name is allowed, they need not be. */
  readonly checksTunnels: boolean;
  readonly #listed: AllowList | undefined;
  readonly #inner: AllowList;
  readonly #isPublic: (address: string) => boolean;

  /** @throws TypeError naming an entry that is none */
  constructor({ allow, inner = [] }: EgressPolicy, isPublic = isPublicAddress) {
    this.#listed = allow === "public" ? undefined : new AllowList(allow);
    this.#inner = new AllowList(inner);
    this.checksTunnels = this.#listed !== undefined;
    this.#isPublic = isPublic;
  }

  /** Where the target may lie. @throws NetworkError `EACCES` when it may not be asked at all */
  admit(target: Target): AddressScope {
    const inner = this.#inner.scopeOf(target);
    if (inner !== undefined) return inner === "public" ? "anywhere" : inner;
    const scope = this.#listed ? this.#listed.scopeOf(target) : this.#publicScope(target);
    if (scope === undefined) throw notListed(entryFor(target));
    return scope;
  }

  #publicScope({ host, port }: Target): AddressScope {
    if (isIP(host) === 0) return "public";
    if (this.#isPublic(host)) return "itself";
    const entry = JSON.stringify(entryFor({ host, port }));
    throw new NetworkError(
      "EACCES",
      `${host} is refused: it is not public (private, this machine or a metadata service): to permit it, its creator must list it: network: { allow: [${entry}] }`,
    );
  }
}
