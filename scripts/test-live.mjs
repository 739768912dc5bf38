// npm run test:live [-- e2b|daytona]... [--only CASE]... : the suite against the real services, with real keys.
// Exit codes: 0 all passed, 1 something failed, 2 a wrong command line, 3 no key is set.
import { parseArgs } from "node:util";
import { setUp } from "./set-up.mjs";

/**
 * What each service takes, what a run costs there at most, and what the suite cannot show there. The bound holds
 * whatever becomes of us: the suite holds few machines at one time, and the service ends each a lease after us.
 * @type {Readonly<Record<string, { key: string, leaseMs: number, bound: string, skip: Record<string, string> }>>}
 */
const services = {
  e2b: {
    key: "E2B_API_KEY",
    leaseMs: 120_000,
    bound: "at most 5 machines of 2 processors at one time, for 45 minutes: below 1 US dollar",
    skip: {
      "network.full": "the service does not reach this machine",
      "network.allowlist": "the service does not reach this machine, and its lists have no ports",
    },
  },
  daytona: {
    key: "DAYTONA_API_KEY",
    leaseMs: 120_000,
    bound: "at most 5 machines of 1 processor at one time, for 45 minutes: below 1 US dollar",
    skip: {
      "network.full": "the service does not reach this machine",
      "network.allowlist": "the service does not reach this machine, and its lists have no ports",
      "lifecycle.pause.processes": "a container is stopped, which keeps its files and ends what runs in it",
    },
  },
};
/** Longer than a run takes; what hangs is given up, and ends with its lease. In milliseconds. */
const longestRunMs = 45 * 60_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", multiple: true } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(services, name));
if (unknown.length > 0) {
  process.stderr.write(
    `error  no service "${unknown.join('", "')}"\nfix    services: ${Object.keys(services).join(", ")}\n`,
  );
  process.exit(2);
}
const wanted = Object.entries(services).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const chosen = wanted.filter(([, { key }]) => process.env[key]);
if (chosen.length === 0) {
  const keys = wanted.map(([, { key }]) => key).join(" or ");
  process.stderr.write(
    `error  nothing was tested: no key is set\nfix    set ${keys}; the suite then runs against the service\n`,
  );
  process.exit(3);
}

await setUp({ types: false });
const { formatScorecard, runConformance } = await import("@sandkit/core/conformance");
setTimeout(() => {
  process.stderr.write(`error  not over after ${longestRunMs / 60_000} minutes: what is left ends with its lease\n`);
  process.exit(1);
}, longestRunMs).unref();
for (const [name, service] of chosen) {
  process.stderr.write(`${name}: ${service.bound}\n`);
  const { createProvider } = await import(`@sandkit/provider-${name}`);
  const provider = createProvider({ leaseMs: service.leaseMs });
  /** @type {import("@sandkit/core").ProviderSession[]} */
  const made = [];
  /** @type {import("@sandkit/core").Provider["create"]} */
  const create = async (options) => {
    const session = await provider.create(options);
    made.push(session);
    return session;
  };
  try {
    const card = await runConformance({
      provider: () => ({ ...provider, create }),
      only: values.only,
      skip: values.only ? {} : service.skip,
      timeouts: { factor: 4 },
      onCase: ({ id, outcome, reason }) =>
        process.stderr.write(`${outcome.padEnd(14)}  ${id}${reason ? `: ${reason}` : ""}\n`),
    });
    process.stdout.write(`${formatScorecard(card)}\n`);
    if (!card.ok) process.exitCode = 1;
  } finally {
    // The suite ends what it makes; of what went wrong on the way nothing is to be paid for.
    await Promise.allSettled(made.map((session) => session.destroy()));
  }
}
