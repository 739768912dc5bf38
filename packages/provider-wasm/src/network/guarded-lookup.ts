import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { Slots } from "@sandkit/core";
import type { Reach } from "./allow-list.js";
import { NetworkError } from "./network-error.js";
import { isPublicAddress } from "./public-address.js";

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

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Makes the lookups of one sandbox's connections. Each address is checked in the one lookup that its connection is
 * made by, so that a name cannot lead elsewhere afterwards; one that is out of reach refuses the name with all of its
 * addresses.
 */
export function guardedLookups(resolve: Resolve = systemLookup): (reach: Reach) => LookupFunction {
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
    const found = underWay.get(hostname) ?? find(hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, found);
    return found;
  };

  return (reach) => (hostname, options, callback) => {
    shared(hostname).then(
      (all) => {
        const addresses = all.filter(({ family }) => !options.family || family === options.family);
        const [first] = addresses;
        if (!first) callback(new NetworkError("ENOTFOUND", `${hostname}: the name has no address`), "");
        else if (!all.every(({ address }) => isWithin(address, reach))) callback(outOfReach(hostname, reach), "");
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, ""),
    );
  };
}

function isWithin(address: string, reach: Reach): boolean {
  if (reach === "public") return isPublicAddress(address);
  const family = isIP(address);
  return reach === "loopback" && family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** The address itself is not told: where names of an inner network lead is nobody's business in there. */
function outOfReach(hostname: string, reach: Reach): NetworkError {
  const what = reach === "public" ? "not public (private, this machine or a metadata service)" : "not this machine";
  const next = reach === "public" ? ": to permit it, its creator must list the address itself" : "";
  return new NetworkError("EACCES", `${hostname} is refused: its address is ${what}${next}`);
}
