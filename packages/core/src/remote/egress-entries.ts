import { net } from "../builtins.js";
import { SandboxError } from "../errors.js";

/** One entry of an allow-list, for vendors whose lists name hosts and ranges of IPv4. */
export type EgressEntry =
  | { readonly kind: "host"; readonly text: string }
  /** `cidr` is the same, always with its number of bits. */
  | { readonly kind: "range"; readonly text: string; readonly cidr: string };

const label = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?";
const hostName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`);

/**
 * Parses `network.allow` for a vendor that knows no ports and no IPv6.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the entry
 */
export function egressEntries(provider: string, allow: readonly string[]): readonly EgressEntry[] {
  return allow.map((entry) => {
    const refuse = (code: "INVALID" | "UNSUPPORTED", what: string) =>
      new SandboxError(code, `network.allow entry ${JSON.stringify(entry)}: ${what}`, {
        provider,
        operation: "create",
      });
    const [address = "", bits, ...rest] = entry.split("/");
    const version = net().isIP(address);
    if (version !== 0 && rest.length === 0 && isPrefix(bits, version)) {
      if (version === 6) throw refuse("UNSUPPORTED", `provider "${provider}" has IPv4 alone`);
      return { kind: "range", text: entry, cidr: `${address}/${bits ?? 32}` };
    }
    if (/^[^:/]+:\d+$/.test(entry)) {
      throw refuse("UNSUPPORTED", `provider "${provider}" knows no ports: leave the port out, which allows them all`);
    }
    if (hostName.test(entry) && !/^[\d.]+$/.test(entry)) return { kind: "host", text: entry };
    throw refuse("INVALID", "must be a host, *.host, an IPv4 address or a range like 10.0.0.0/8");
  });
}

function isPrefix(bits: string | undefined, version: number): boolean {
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
