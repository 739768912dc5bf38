import { networkInterfaces } from "node:os";
import { Subnets } from "./subnets.js";

/** How long they are taken for the same. */
const keptMs = 5_000;

/** The addresses of this machine, and of IPv6 those of the links that it is on. */
export class OwnAddresses {
  readonly #interfaces: typeof networkInterfaces;
  #found = new Subnets();
  #until = 0;

  constructor(interfaces = networkInterfaces) {
    this.#interfaces = interfaces;
  }

  has(address: string): boolean {
    const now = performance.now();
    if (now >= this.#until) {
      this.#found = new Subnets(...this.#look());
      this.#until = now + keptMs;
    }
    return this.#found.has(address);
  }

  #look(): string[] {
    const all = Object.values(this.#interfaces()).flatMap((addresses) => addresses ?? []);
    return all.map(({ family, address, cidr }) => (family === "IPv4" ? `${address}/32` : (cidr ?? `${address}/128`)));
  }
}
