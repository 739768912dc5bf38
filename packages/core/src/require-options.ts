import { type Capabilities, type Feature, requireFeature } from "./capabilities.js";
import { SandboxError } from "./errors.js";
import type { CreateOptions } from "./options.js";
import type { Provider } from "./provider.js";

/**
 * Refuses by name each option that the provider cannot honour.
 * @throws SandboxError `UNSUPPORTED`, `INVALID`
 */
export function requireWhatIsAsked<Native>(provider: Provider<Native>, options: CreateOptions<Native>): void {
  const { resources = {}, lifetime = {}, network, template, image } = options;
  if (template !== undefined && image !== undefined) {
    throw new SandboxError("INVALID", 'options "template" and "image" exclude each other: give one', {
      provider: provider.name,
      operation: "create",
    });
  }
  const asked: readonly (readonly [unknown, Feature, string])[] = [
    [resources.cpus, "resources.cpu", "resources.cpus"],
    [resources.memoryMiB, "resources.memory", "resources.memoryMiB"],
    [resources.diskMiB, "resources.disk", "resources.diskMiB"],
    [resources.pids, "resources.pids", "resources.pids"],
    [lifetime.ttlMs, "lifetime.ttl", "lifetime.ttlMs"],
    [lifetime.idleMs, "lifetime.idle", "lifetime.idleMs"],
    [lifetime.detached || undefined, "lifetime.detached", "lifetime.detached"],
    [options.ports?.length || undefined, "ports", "ports"],
    [options.packages?.length || undefined, "packages", "packages"],
    [options.snapshot, "snapshot", "snapshot"],
    [options.files, "files", "files"],
    [network, networkFeature(network, provider.capabilities), "network"],
  ];
  for (const [value, feature, option] of asked) {
    if (value !== undefined) requireFeature(provider, feature, `option "${option}"`);
  }
  const { maxTtlMs } = provider.capabilities.limits;
  if (maxTtlMs !== undefined && lifetime.ttlMs !== undefined && lifetime.ttlMs > maxTtlMs) {
    throw new SandboxError("INVALID", `lifetime.ttlMs is at most ${maxTtlMs} with provider "${provider.name}"`, {
      provider: provider.name,
      operation: "create",
    });
  }
}

function networkFeature(network: CreateOptions["network"], { features }: Capabilities): Feature {
  // Where packages are installed from outside the sandbox, they are all of the network that it needs.
  if (network === "packages" && features.packages) return "packages";
  if (network === "full") return "network.full";
  return network === "none" || network === undefined ? "network.none" : "network.allowlist";
}
