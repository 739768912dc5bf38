import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "@sandkit/core/network";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { DownloadError } from "./download-error.js";
import { isLoopback, isSecure, shown } from "./web-address.js";

const remedy = "if that is meant, name the host in packages.fileHosts";

/** A name that leads to an address at which nothing may be asked. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
}

/** How hosts are reached: those that were configured wherever they are, all others at public addresses alone. */
export class Routes {
  readonly #trusted: ReadonlySet<string>;
  readonly #local = new Agent();
  readonly #configured = new EnvHttpProxyAgent();
  readonly #elsewhere = new EnvHttpProxyAgent({ connect: { lookup: publicLookup } });

  /** @param trusted Origins that may be anywhere, also on this machine. */
  constructor(trusted: readonly string[]) {
    this.#trusted = new Set(trusted);
  }

  /** @throws DownloadError for an address at which nothing may be asked */
  to(url: URL): Dispatcher {
    if (!isSecure(url)) throw new DownloadError(`${shown(url)} is refused: packages come by https alone`);
    if (this.#trusted.has(url.origin)) return isLoopback(url.hostname) ? this.#local : this.#configured;
    const literal = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const isPublic = isIP(literal) ? isPublicAddress(literal) : !isLoopback(url.hostname);
    if (!isPublic) throw new DownloadError(`${shown(url)} is refused: it is no public address: ${remedy}`);
    return this.#elsewhere;
  }
}

/** Looks a name up and refuses it when any of its addresses is none of the public internet. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    const inside = addresses?.find(({ address }) => !isPublicAddress(address));
    if (error) callback(error, "");
    else if (inside || !first)
      callback(new RefusedAddress(`refused: ${hostname} leads to no public address: ${remedy}`), "");
    else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
