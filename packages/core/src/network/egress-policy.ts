import { isIP } from "node:net";
import { type AddressScope, AllowList } from "./allow-list.js";
import { NetworkError, notListed } from "./network-error.js";
import { isForeignAddress } from "./public-address.js";
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
  constructor({ allow, inner = [] }: EgressPolicy, isPublic = isForeignAddress) {
    this.#listed = allow === "public" ? undefined : new AllowList(allow);
    this.#inner = new AllowList(inner);
    this.checksTunnels = this.#listed !== undefined;
    this.#isPublic = isPublic;
  }

  /** Whether the target may be asked, as far as is known before its name is looked up. */
  permits(target: Target): boolean {
    return this.#scopeOf(target) !== undefined;
  }

  /** Where the target may lie. @throws NetworkError `EACCES` when it may not be asked at all */
  admit(target: Target): AddressScope {
    const scope = this.#scopeOf(target);
    if (scope !== undefined) return scope;
    const entry = entryFor(target);
    if (this.#listed) throw notListed(entry);
    const what = "it is not public (private, this machine or a metadata service)";
    const next = `create it with network: { allow: [${JSON.stringify(entry)}] }`;
    throw new NetworkError("EACCES", `${target.host} is refused: ${what}: to permit it, ${next}`);
  }

  #scopeOf(target: Target): AddressScope | undefined {
    const inner = this.#inner.scopeOf(target);
    if (inner !== undefined) return inner === "public" ? "anywhere" : inner;
    if (this.#listed) return this.#listed.scopeOf(target);
    if (isIP(target.host) === 0) return "public";
    return this.#isPublic(target.host) ? "itself" : undefined;
  }
}
