import { agentFeatures, type Capabilities, capabilities } from "@sandkit/core";

/** Of the larger plans, in milliseconds; what an account is granted less is told by `info`. */
export const longestTtlMs = 24 * 60 * 60_000;

/**
 * What a sandbox of E2B can do; kernels, terminal and tree kill are narrowed to what is found in it. What is missing:
 * `resources`, which its template fixes; a user of one's choice for a command; and `process.reattach`: the agent keeps
 * the streams of a program, and when to hold it up, for the client that started it.
 */
export const e2bCapabilities: Capabilities = capabilities({
  isolation: "microvm",
  features: {
    ...agentFeatures,
    ports: "native",
    "network.none": "native",
    "network.allowlist": "native",
    "network.full": "native",
    "lifetime.ttl": "native",
    "lifetime.idle": "native",
    "lifetime.detached": "native",
    packages: "emulated",
    pause: "native",
    snapshot: "native",
    fork: "native",
    attach: "native",
    list: "native",
    git: "emulated",
  },
  limits: { maxTtlMs: longestTtlMs },
});
