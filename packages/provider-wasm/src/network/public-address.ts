import ipaddr from "ipaddr.js";

/** What of IPv6 has been given out: all else leads nowhere, or into networks of one's own. */
const allocated = ipaddr.parseCIDR("2000::/3");

/** Whether an address belongs to the public internet: not to a private network, this machine, or a metadata service. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || parsed.match(allocated));
}
