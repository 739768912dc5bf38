import { isolationOf } from "../capabilities.js";
import type { EngineFacts } from "./facts.js";
import type { Search } from "./find-engine.js";
import type { EngineIdentity } from "./identity.js";

/** What was found out about an engine and what that means, for people: by name, in the order to be told. */
export function tellEngine(
  search: Search,
  identity: EngineIdentity,
  facts: EngineFacts,
  runtime: string | undefined,
): Record<string, string> {
  const { security, limits, storage, cgroupVersion, processors, memoryBytes } = facts;
  const held = Object.entries(limits).flatMap(([name, isHeld]) => (isHeld ? [name] : []));
  const notHeld = Object.entries(limits).flatMap(([name, isHeld]) => (isHeld ? [] : [name]));
  return {
    found: howFound(search),
    machine: `${facts.machine}, ${processors} processors, ${Math.round(memoryBytes / 2 ** 30)} GiB`,
    runtimes: runtimesOf(identity, facts),
    cgroup: `v${cgroupVersion}: limits ${held.join(", ") || "nothing"}${notHeld.length > 0 ? `; not ${notHeld.join(", ")}` : ""}`,
    storage: `${storage}; sandboxes write to memory alone`,
    seccomp: security.includes("seccomp") ? "yes, with a list of allowed calls of our own" : "no",
    rootless: security.includes("rootless")
      ? "yes: a way out of a container leads to an ordinary user"
      : "no: whoever may use this engine is root on its machine; rootless Docker or Podman would be safer",
    users: security.includes("userns")
      ? "own namespace: root inside is nobody outside"
      : security.includes("rootless")
        ? "own namespace, as the engine is rootless"
        : "those of the machine, though never root nor another sandbox's",
    isolation: isolationText(identity, facts, runtime),
  };
}

function howFound({ source = "", tried }: Search): string {
  const others = tried.map(({ source: other, url, why }) => `${other} (${url}: ${why})`);
  return others.length === 0 ? source : `${source}; not ${others.join(", nor ")}`;
}

/** Podman tells of all runtimes that it has a name for, installed or not. */
function runtimesOf({ product }: EngineIdentity, { runtimes, defaultRuntime }: EngineFacts): string {
  const others = runtimes.filter((name) => name !== defaultRuntime).join(", ");
  return `${defaultRuntime} by default; ${product === "Podman" ? "known by name, installed or not" : "also"}: ${others || "none"}`;
}

function isolationText({ product }: EngineIdentity, { runtimes }: EngineFacts, runtime: string | undefined): string {
  if (isolationOf(runtime) === "gvisor") return "gvisor: a kernel of its own in user space answers most system calls";
  const gvisor = product === "Docker" ? runtimes.find((name) => name.startsWith("runsc")) : undefined;
  const shared = "container: shares the kernel of its machine, so a hole there is a way out";
  const more = gvisor ? `the option "runtime": "${gvisor}" has its own` : "gVisor (runsc) or a microVM is stronger";
  return `${shared}; ${more}`;
}
