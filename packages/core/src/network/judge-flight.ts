import { isIP } from "node:net";
import type { FirstFlight } from "./first-flight.js";
import type { Target } from "./target.js";

const tlsPort = 443;

/**
 * Why a tunnel may not go on after what its client has said first; undefined where it may. TLS must ask for the name
 * that the tunnel was opened for. At port 443 it must be TLS, and must ask; at the other ports of a list it may be
 * anything, because its creator has named the port.
 */
export function objectionTo({ first, bytes }: FirstFlight, { host, port }: Target): string | undefined {
  switch (first.is) {
    case "client-hello":
      return objectionToName(first.serverName, host, port);
    case "malformed":
      return `what it says is no TLS: ${first.why}`;
    case "other":
      return port === tlsPort ? "only TLS is spoken at port 443, and this is none" : undefined;
    case "incomplete":
      if (bytes.length > 0) return "what TLS says first did not come to its end in time";
      return port === tlsPort ? "nothing was said in time" : undefined;
  }
}

function objectionToName(serverName: string | undefined, host: string, port: number): string | undefined {
  const isAddress = isIP(host) !== 0;
  if (serverName === undefined) {
    if (isAddress || port !== tlsPort) return undefined;
    return "its TLS names no server: a client that sends the name (SNI) is needed";
  }
  if (serverName.toLowerCase() === host) return undefined;
  // It is shown at terminals, which some bytes above ASCII steer too.
  const asked = JSON.stringify(serverName.slice(0, 253).replace(/[^\x21-\x7e]/g, "?"));
  if (isAddress) return `its TLS asks for ${asked} and the tunnel is to an address: open it to the name`;
  const ech = "if that is the outer name of an encrypted ClientHello (ECH), switch that off";
  return `its TLS asks for ${asked}, which is another name than that of the tunnel: ${ech}`;
}
