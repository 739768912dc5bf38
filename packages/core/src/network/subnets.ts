import type { BlockList } from "node:net";
import { net } from "../builtins.js";

/** A set of addresses, by subnets such as `10.0.0.0/8`. */
export class Subnets {
  readonly #subnets: readonly string[];
  #list: BlockList | undefined;

  constructor(...subnets: readonly string[]) {
    this.#subnets = subnets;
  }

  /** One with a zone is of a link, and in no set. One of IPv4 that is written as of IPv6 is what it is written as. */
  has(address: string): boolean {
    const family = net().isIP(address);
    if (family === 0 || address.includes("%") || /^::ffff:/i.test(address)) return false;
    this.#list ??= blockList(this.#subnets);
    return this.#list.check(address, family === 4 ? "ipv4" : "ipv6");
  }
}

function blockList(subnets: readonly string[]): BlockList {
  const list = new (net().BlockList)();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), net().isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
