import { isolationOf } from "../capabilities.js";
import type { EngineFacts } from "./facts.js";
import type { FoundEngine } from "./find-engine.js";

/** What was found out about an engine and what that means, for people: by name, in the order to be told. */
export function tellEngine(
  found: FoundEngine,
  facts: EngineFacts,
  runtime: string | undefined,
): Record<string, string> {
  const { security, limits, storage, cgroupVersion, processors, memoryBytes } = facts;
  const held = Object.entries(limits).flatMap(([name, isHeld]) => (isHeld ? [name] : []));
  const notHeld = Object.entries(limits).flatMap(([name, isHeld]) => (isHeld ? [] : [name]));
  return {
    found: howFound(found),
    machine: `${facts.machine}, ${processors} processors, ${Math.round(memoryBytes / 2 ** 30)} GiB`,
    runtimes: facts.runtimes.map((name) => (name === facts.defaultRuntime ? `${name} (default)` : name)).join(", "),
    cgroup: `v${cgroupVersion}: limits ${held.join(", ")}${notHeld.length > 0 ? `; not ${notHeld.join(", ")}` : ""}`,
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
    isolation: isolationText(facts, runtime),
  };
}

function howFound({ source, tried }: FoundEngine): string {
  if (tried.length === 0) return `by ${source}`;
  return `by ${source}; before it ${tried.map(({ source: other, url, why }) => `${other} (${url}: ${why})`).join(", ")}`;
}

function isolationText({ runtimes }: EngineFacts, runtime: string | undefined): string {
  if (isolationOf(runtime) === "gvisor") return "gvisor: a kernel of its own in user space answers most system calls";
  const gvisor = runtimes.find((name) => name.startsWith("runsc"));
  const shared = "container: shares the kernel of its machine, so a hole there is a way out";
  const more = gvisor ? `the option "runtime": "${gvisor}" uses it` : "gVisor (runsc) or a micro machine is stronger";
  return `${shared}; ${more}`;
}
