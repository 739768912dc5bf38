import { net } from "../builtins.js";
import { bare, isLocalName, isWebPort, type Target } from "./target.js";

/**
 * Where the addresses of a permitted host must lie: in the public internet, on this machine, there or in a network of
 * one's own; or it is an address, and permitted as it stands.
 */
export type AddressScope = "public" | "loopback" | "anywhere" | "itself";

interface Rule {
  readonly host: string;
  /** Absent: the ports of http and https. */
  readonly port: number | undefined;
  readonly matches: "host" | "subdomains" | "names";
}

const entryPattern = /^(?<host>\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\%]+)(?::(?<port>\d{1,5}))?$/i;

/**
 * The hosts that a sandbox may ask. `example.com` is that host alone, `*.example.com` its sub-domains alone, `*` every
 * name; each at the ports 80 and 443, or with `:8443` at that one. An address matches where it is listed itself.
 */
export class AllowList {
  readonly #rules: readonly Rule[];

  /** @throws TypeError naming the entry that is none */
  constructor(entries: readonly string[]) {
    this.#rules = entries.map(ruleOf);
  }

  /** Where a host may lie; undefined when it may not be asked at all. */
  scopeOf({ host, port }: Target): Exclude<AddressScope, "anywhere"> | undefined {
    const found = this.#rules.filter((rule) => hasPort(rule, port) && hasHost(rule, host));
    if (found.length === 0) return undefined;
    if (net().isIP(host) !== 0) return "itself";
    // Who lists this machine by its name means it; a pattern never does.
    return isLocalName(host) && found.some(({ matches }) => matches === "host") ? "loopback" : "public";
  }
}

function hasPort({ port }: Rule, asked: number): boolean {
  return port === undefined ? isWebPort(asked) : port === asked;
}

function hasHost({ host, matches }: Rule, asked: string): boolean {
  if (matches === "host") return asked === host;
  if (net().isIP(asked) !== 0) return false;
  return matches === "names" || asked.endsWith(`.${host}`);
}

function ruleOf(entry: string): Rule {
  if (net().isIP(entry) === 6) return ruleOf(`[${entry}]`);
  const { host, port } = entryPattern.exec(entry)?.groups ?? {};
  if (host === undefined) throw wrong(entry, "it is to be a host, or host:port, without scheme and path");
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) throw wrong(entry, "the port is 1 to 65535");
  if (host === "*") return { host, port: number, matches: "names" };
  const isPattern = host.startsWith("*.");
  const name = isPattern ? host.slice(2) : host;
  if (name.includes("*")) throw wrong(entry, 'the wildcard is "*." at the beginning, for sub-domains, or "*" alone');
  const canonical = canonicalName(entry, name);
  if (isPattern && net().isIP(canonical) !== 0) throw wrong(entry, "an address has no sub-domains");
  return { host: canonical, port: number, matches: isPattern ? "subdomains" : "host" };
}

function canonicalName(entry: string, name: string): string {
  if (name.endsWith(".")) throw wrong(entry, "leave the dot at its end out");
  const url = parse(name);
  const host = url && bare(url.hostname);
  if (!host) throw wrong(entry, "it is no host name");
  if (net().isIP(host) === 4 && host !== name) throw wrong(entry, `write it as ${host}`);
  return host;
}

function parse(name: string): URL | null {
  return URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : null;
}

function wrong(entry: string, why: string): TypeError {
  return new TypeError(`${JSON.stringify(entry)}: ${why}`);
}
