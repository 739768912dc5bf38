import { BlockList, isIP } from "node:net";

/**
 * What is not of the public internet, of IPv4 and within what is given out of IPv6: IANA's registries of special-purpose
 * addresses, multicast, and translations, which lead to an address that nobody has looked at.
 */
const special = blockList(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"],
  ...["198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  ...["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"],
);
/** What of IPv6 has been given out: all else leads nowhere, or into networks of one's own. */
const allocated = blockList("2000::/3");
/** This machine, and networks of one's own. Metadata services and all that is local to a link are not among them. */
const inner = blockList(
  ...["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"],
);
const metadata = blockList("100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::/32");
const loopback = blockList("127.0.0.0/8", "::1/128");

/** Whether an address belongs to the public internet: not to a private network, this machine, or a metadata service. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !has(special, address);
  return has(allocated, address) && !has(special, address);
}

/** Whether an address belongs to this machine or to a network of one's own, and not to a metadata service. */
export function isInnerAddress(address: string): boolean {
  return has(inner, address) && !has(metadata, address);
}

/** Whether an address is this machine's own. */
export function isLoopbackAddress(address: string): boolean {
  return has(loopback, address);
}

function has(list: BlockList, address: string): boolean {
  const family = isIP(address);
  // One with a zone is of a link. One of IPv4 that is written as of IPv6 is what it is written as.
  if (family === 0 || address.includes("%") || /^::ffff:/i.test(address)) return false;
  return list.check(address, family === 4 ? "ipv4" : "ipv6");
}

function blockList(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
