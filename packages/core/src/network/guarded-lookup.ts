import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Slots } from "../slots.js";
import type { AddressScope } from "./allow-list.js";
import { NetworkError } from "./network-error.js";
import { isForeignAddress, isInnerAddress, isLoopbackAddress } from "./public-address.js";

/** Looks a name up as the operating system does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Lookups hold threads that the whole process shares, and there are four: names that never resolve may not take them
 * all.
 */
const processTurns = new Slots(3);

/** Names that may wait for their turn in one sandbox: who asks for more asks for none. */
const mostNames = 64;

/** What tests put in the place of the world. */
export interface LookupSeams {
  readonly resolve?: Resolve | undefined;
  /** Whether an address belongs to the public internet, and leads away from this machine. */
  readonly isPublic?: ((address: string) => boolean) | undefined;
}

/** What gives a connection its addresses, for a host that may lie within the scope. */
export type GuardedLookups = (scope: AddressScope) => LookupFunction;

/**
 * Makes the lookups of one sandbox's connections. Each address is checked in the one lookup that its connection is
 * made by, so that a name cannot lead elsewhere afterwards; one that is out of reach refuses the name with all of its
 * addresses.
 */
export function guardedLookups({
  resolve = systemLookup,
  isPublic = isForeignAddress,
}: LookupSeams = {}): GuardedLookups {
  const turns = new Slots(1);
  const underWay = new Map<string, Promise<LookupAddress[]>>();

  const find = async (hostname: string): Promise<LookupAddress[]> => {
    const free = await turns.take();
    const freeProcess = await processTurns.take();
    try {
      return await new Promise((done, fail) => {
        resolve(hostname, { all: true }, (error, addresses) => (error ? fail(error) : done(addresses)));
      });
    } finally {
      freeProcess();
      free();
    }
  };

  const shared = (hostname: string): Promise<LookupAddress[]> => {
    if (underWay.size >= mostNames && !underWay.has(hostname)) {
      return Promise.reject(new NetworkError("EBUSY", `${hostname}: ${mostNames} other names are being looked up`));
    }
    const found = underWay.get(hostname) ?? find(hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, found);
    return found;
  };

  return (scope) => (hostname, options, callback) => {
    shared(hostname).then(
      (all) => {
        const addresses = all.filter(({ family }) => !options.family || family === options.family);
        const [first] = addresses;
        if (!first) callback(new NetworkError("ENOTFOUND", `${hostname}: the name has no address`), "");
        else if (!all.every(({ address }) => isWithin(address, scope, isPublic)))
          callback(outside(hostname, scope), "");
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, ""),
    );
  };
}

function isWithin(address: string, scope: AddressScope, isPublic: (address: string) => boolean): boolean {
  if (scope === "loopback") return isLoopbackAddress(address);
  if (scope === "anywhere" && isInnerAddress(address)) return true;
  return scope !== "itself" && isPublic(address);
}

/** The address itself is not told: where names of an inner network lead is nobody's business in there. */
function outside(hostname: string, scope: AddressScope): NetworkError {
  if (scope === "loopback")
    return new NetworkError("EACCES", `${hostname} is refused: its address is not this machine`);
  if (scope === "anywhere") {
    const what = "its address is neither public nor of a private network (reserved, link-local or a metadata service)";
    return new NetworkError("EACCES", `${hostname} is refused: ${what}: correct what the name leads to`);
  }
  const what = "its address is not public (private, this machine or a metadata service)";
  return new NetworkError(
    "EACCES",
    `${hostname} is refused: ${what}: to permit it, its creator must list the address itself`,
  );
}
