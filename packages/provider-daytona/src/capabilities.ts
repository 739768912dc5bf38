import { agentFeatures, type Capabilities, capabilities, type Feature, type Support } from "@sandkit/core";

/** What may differ between two sandboxes of Daytona. */
export interface BoxKind {
  /** Virtual machines are paused with their memory, and forked. */
  readonly isVirtualMachine: boolean;
  /** Resources are fixed by a snapshot, and chosen with an image. */
  readonly hasImage: boolean;
}

/**
 * What a sandbox of Daytona can do; kernels, terminal and tree kill are narrowed to what is found in it. Missing:
 * `resources.pids`, which Daytona has not; a user of one's choice for a command; and `process.reattach`: the agent keeps
 * the streams of a program, and when to hold it up, for the client that started it.
 */
export function daytonaCapabilities({ isVirtualMachine, hasImage }: BoxKind): Capabilities {
  const when = (holds: boolean): Support => (holds ? "native" : false);
  const features: Partial<Record<Feature, Support>> = {
    ...agentFeatures,
    ports: "native",
    "network.none": "native",
    "network.allowlist": "native",
    "network.full": "native",
    "resources.memory": when(hasImage),
    "resources.cpu": when(hasImage),
    "resources.disk": when(hasImage),
    "lifetime.ttl": "native",
    "lifetime.idle": "native",
    "lifetime.detached": "native",
    packages: "emulated",
    pause: "native",
    snapshot: "native",
    fork: when(isVirtualMachine),
    attach: "native",
    list: "native",
    git: "emulated",
  };
  return capabilities({ isolation: isVirtualMachine ? "microvm" : "container", features });
}

/** What some sandbox of Daytona can do. */
export const upperBound: Capabilities = {
  ...daytonaCapabilities({ isVirtualMachine: true, hasImage: true }),
  // Which of both it is, its snapshot decides: promised is the weaker one.
  isolation: "container",
};
