import { BlockList, isIP } from "node:net";

/** Networks of IPv4 that are not the public internet: private, loopback, link-local (metadata services), reserved. */
const special = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/** Of IPv6: what carries an address of IPv4 in it, and what is for documentation. */
const special6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];
const global6 = "2000::/3";

const [notPublic, allocated] = [new BlockList(), new BlockList()];
for (const network of special) addTo(notPublic, network, "ipv4");
for (const network of special6) addTo(notPublic, network, "ipv6");
addTo(allocated, global6, "ipv6");

/** Whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, "ipv4");
  return family === 6 && allocated.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

function addTo(list: BlockList, network: string, family: "ipv4" | "ipv6"): void {
  const [address = "", bits] = network.split("/");
  list.addSubnet(address, Number(bits), family);
}
