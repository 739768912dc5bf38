import { net } from "../builtins.js";

/** What a client asks to be connected with. */
export interface Target {
  /** In the one notation in which it is judged and asked: a name in lower case, or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

const authorityPattern = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?<port>\d{1,5}))?$/i;
const longestName = 253;
const webPorts = [80, 443];

/** Parses `host:port`; undefined for what is none, and without a port where there is no default. */
export function parseTarget(authority: string, defaultPort?: number): Target | undefined {
  const { name, port = defaultPort } = authorityPattern.exec(authority)?.groups ?? {};
  const host = name && canonicalHost(name);
  const number = Number(port);
  return host && number >= 1 && number <= 65_535 ? { host, port: number } : undefined;
}

/** What an address of http or https leads to. */
export function targetOf({ hostname, port, protocol }: URL): Target {
  return { host: bare(hostname), port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** The target as an entry of an allow-list would name it. */
export function entryFor({ host, port }: Target): string {
  const name = net().isIP(host) === 6 ? `[${host}]` : host;
  return webPorts.includes(port) ? name : `${name}:${port}`;
}

/** Whether entries without a port mean this one: those of http and https. */
export function isWebPort(port: number): boolean {
  return webPorts.includes(port);
}

/** Whether a name means this machine, whatever it resolves to. */
export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/** A host name without the brackets of IPv6. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Numbers of every base and length are the address that they mean; the dot at the end of a whole name says nothing. */
function canonicalHost(name: string): string | undefined {
  const address = `http://${name.replace(/\.$/, "")}/`;
  if (name.length > longestName || !URL.canParse(address)) return undefined;
  const host = bare(new URL(address).hostname);
  return host.endsWith(".") ? undefined : host;
}
