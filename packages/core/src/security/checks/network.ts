import type { CreateOptions } from "../../options.js";
import type { Attack, Check } from "../probe.js";

/** What can be reached from inside. */
export const networkCheck: Check = {
  name: "network",
  probes: {
    "network.host": {
      title: "reaches no port of this machine",
      severity: "critical",
      fix: 'network: "none", or a list of hosts; never the network of the host or a bridge ("unsafeBridge")',
    },
    "network.metadata": {
      title: "reaches no metadata service of a cloud",
      severity: "critical",
      fix: 'network: "none", or a list of hosts; never a bridge: metadata gives out keys of the machine',
    },
    "network.outside": {
      title: "reaches no address outside that it was not given",
      severity: "high",
      fix: 'network: "none", or a list of hosts',
    },
    "network.interfaces": {
      title: "has no interface but its own loopback",
      severity: "high",
      fix: 'give it a network namespace of its own with nothing in it (Docker: NetworkMode "none")',
      withinOwnKernel: true,
    },
    "network.names": {
      title: "asks no name server: names carry data out too",
      severity: "high",
      fix: "leave it no name server; names of a list are looked up outside",
    },
    "network.raw": {
      title: "makes no raw packets",
      severity: "high",
      fix: "leave out CAP_NET_RAW",
      withinOwnKernel: true,
    },
    "network.vsock": {
      title: "has no AF_VSOCK to the machine under it",
      severity: "high",
      fix: "refuse AF_VSOCK by seccomp",
      withinOwnKernel: true,
    },
    "network.abstract": {
      title: "reaches no abstract Unix socket of this machine",
      severity: "critical",
      fix: 'give it a network namespace of its own (Docker: never NetworkMode "host")',
    },
  },
  async run({ target, bait, create }) {
    const before = bait.connections;
    const attacks = await target.attack("network", Object.keys(this.probes), bait.env());
    const connections = bait.connections - before;
    const allowed = permitted(create.network);
    return attacks.map((attack): Attack => {
      // What this machine saw counts for more than what the attacker saw.
      if (attack.id === "network.host" && connections > 0)
        return { ...attack, outcome: "got", saw: `${attack.saw}; ${connections} connections arrived here` };
      if (attack.outcome === "got" && allowed?.ids.includes(attack.id))
        return { ...attack, outcome: "permitted", saw: `${allowed.why} permits it: ${attack.saw}` };
      return attack;
    });
  },
};

/** What a network policy of the caller's own gives. */
function permitted(
  network: CreateOptions["network"],
): { readonly why: string; readonly ids: readonly string[] } | undefined {
  if (network === undefined || network === "none") return undefined;
  const why = `network: ${typeof network === "string" ? `"${network}"` : "a list of hosts"}`;
  const ids = ["network.interfaces", "network.names", ...(network === "full" ? ["network.outside"] : [])];
  return { why, ids };
}
