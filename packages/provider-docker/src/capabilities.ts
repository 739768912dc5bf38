import { agentFeatures, type Capabilities, capabilities } from "@sandkit/core";
import type { FirstProgram } from "./hardening.js";
import type { DockerOptions } from "./options.js";

/** How strongly a runtime of the engine separates its containers from the machine. */
export function isolationOf(runtime: string | undefined): Capabilities["isolation"] {
  return runtime?.startsWith("runsc") ? "gvisor" : "container";
}

/**
 * What an image gives, by default the best; kernels, terminal, tree kill and git are narrowed to what the session finds
 * in its box.
 */
export function dockerCapabilities(
  options: DockerOptions,
  runtime = options.runtime,
  first: FirstProgram = "python",
): Capabilities {
  // Only an agent carries connections.
  const proxied = first === "shell" ? false : "emulated";
  return capabilities({
    isolation: isolationOf(runtime),
    features: {
      ...agentFeatures,
      // Its kernel has no subreapers: what has left its parent is found by its traces.
      "exec.killTree": isolationOf(runtime) === "gvisor" ? "emulated" : agentFeatures["exec.killTree"],
      // An agent that is no root cannot become anybody else.
      "exec.user": first === "python" && options.unsafeRoot ? "native" : false,
      "files.watch": first === "python" ? "native" : false,
      "network.none": "native",
      "network.allowlist": proxied,
      // With a bridge there is nobody between: nothing is seen of what is contacted.
      "network.full": options.unsafeBridge ? "native" : proxied,
      "network.contacts": options.unsafeBridge ? false : proxied,
      ports: first === "shell" ? false : "native",
      "resources.memory": "native",
      "resources.cpu": "native",
      // Root writes to the image's own file system, which no engine caps everywhere.
      "resources.disk": options.unsafeRoot ? false : "native",
      "resources.pids": "native",
      "lifetime.ttl": "native",
      "lifetime.idle": "native",
      // The agent in JavaScript cannot tell its clients apart, and the plain mode has none.
      "lifetime.detached": first === "python" && !options.unsafeRoot ? "native" : false,
      pause: "native",
      // Files alone: what runs is not copied.
      snapshot: "emulated",
      fork: "emulated",
      attach: "native",
      list: "native",
      packages: first === "shell" ? false : "native",
      git: "emulated",
    },
  });
}
