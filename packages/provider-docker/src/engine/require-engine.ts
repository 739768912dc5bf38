import { SandboxError } from "@sandkit/core";
import { providerName } from "../errors.js";
import type { EngineClient } from "./client.js";
import type { EngineFacts, Limit } from "./facts.js";

/** Why an engine cannot hold sandboxes to what is promised. */
export interface EngineFault {
  readonly what: string;
  /** What can be done on its machine, the best first. */
  readonly fix: readonly string[];
}

/** What a sandbox is never without. */
const needed = ["memory", "processes", "processors"] as const satisfies readonly Limit[];

const noLimits = [
  "use cgroup v2, with its controllers delegated to the engine's user where it is rootless",
  "on Raspberry Pi and others: cgroup_enable=memory on the kernel's command line, then restart the machine",
];

/** What is wrong with an engine; empty: nothing. */
export function engineFaults(facts: EngineFacts, runtime: string | undefined): EngineFault[] {
  const { limits, security, runtimes } = facts;
  const faults: EngineFault[] = [];
  if (runtime !== undefined && !runtimes.includes(runtime)) {
    const install = runtime.startsWith("runsc")
      ? 'install gVisor on its machine, then "sudo runsc install && sudo systemctl restart docker"'
      : 'add it under "runtimes" in /etc/docker/daemon.json on its machine';
    const what = `the engine does not know runtime "${runtime}" (it has ${runtimes.join(", ")})`;
    faults.push({ what, fix: [install, 'leave out the option "runtime"'] });
  }
  const missing = needed.filter((limit) => !limits[limit]);
  if (missing.length > 0) faults.push({ what: `it cannot limit ${missing.join(", ")} of a container`, fix: noLimits });
  if (!security.includes("seccomp")) {
    const fix = ["use a kernel with seccomp (CONFIG_SECCOMP_FILTER) under the engine"];
    faults.push({ what: "it cannot limit system calls (no seccomp)", fix });
  }
  return faults;
}

/**
 * Refuses an engine that would ignore what a sandbox is held to, or lacks its runtime.
 * @throws SandboxError `UNAVAILABLE` with what to do
 */
export async function requireEngine(engine: EngineClient, runtime: string | undefined): Promise<void> {
  const [fault] = engineFaults(await engine.facts(), runtime);
  if (!fault) return;
  const message = `${engine.identity.product} at ${engine.place}: ${fault.what}: ${fault.fix.join("; or ")}`;
  throw new SandboxError("UNAVAILABLE", message, { provider: providerName, operation: "create", retryable: false });
}
