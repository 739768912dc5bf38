import { net } from "../builtins.js";
import { OwnAddresses } from "./own-addresses.js";
import { Subnets } from "./subnets.js";

/**
 * What is not of the public internet, of IPv4 and within what is given out of IPv6: IANA's registries of special-purpose
 * addresses, multicast, translations, which lead to an address that nobody has looked at, and Azure's own, at which its
 * machines are told what they are.
 */
const special = new Subnets(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"],
  ...["192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  ...["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"],
);
/** What of IPv6 has been given out: all else leads nowhere, or into networks of one's own. */
const allocated = new Subnets("2000::/3");
/** This machine, and networks of one's own. Metadata services and all that is local to a link are not among them. */
const inner = new Subnets(
  ...["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"],
);
const metadata = new Subnets("100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::/32");
const loopback = new Subnets("127.0.0.0/8", "::1/128");

/** Whether an address belongs to the public internet: not to a private network, this machine, or a metadata service. */
export function isPublicAddress(address: string): boolean {
  if (net().isIP(address) === 4) return !special.has(address);
  return allocated.has(address) && !special.has(address);
}

/**
 * Whether an address is of the public internet, and leads away from here: neither to this machine, whose services may
 * be meant for its own network alone, nor to its neighbours, who have public addresses of IPv6 behind one firewall.
 */
export function isForeignAddress(address: string): boolean {
  return isPublicAddress(address) && !own.has(address);
}

const own = new OwnAddresses();

/** Whether an address belongs to this machine or to a network of one's own, and not to a metadata service. */
export function isInnerAddress(address: string): boolean {
  return inner.has(address) && !metadata.has(address);
}

/** Whether an address is this machine's own. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.has(address);
}
