import {
  type Capabilities,
  capabilities,
  type Feature,
  type Isolation,
  type Limits,
  type Support,
} from "../capabilities.js";

/** From the weakest. */
const isolations: readonly Isolation[] = ["none", "wasm", "container", "gvisor", "microvm"];
/** A list of some would be taken for a list of all. */
const ofAll: ReadonlySet<Feature> = new Set(["list"]);
const ranks: readonly Support[] = [false, "emulated", "native"];

/** What a sandbox of one of several providers can do at most; the isolation is the weakest of them. */
export function unionCapabilities(all: readonly Capabilities[]): Capabilities {
  const names = Object.keys(capabilities({ isolation: "none", features: {} }).features) as Feature[];
  const support = (name: Feature): Support => {
    const found = all.map(({ features }) => ranks.indexOf(features[name]));
    return ranks[ofAll.has(name) ? Math.min(...found) : Math.max(...found)] ?? false;
  };
  const weakest = Math.min(...all.map(({ isolation }) => isolations.indexOf(isolation)));
  return capabilities({
    isolation: isolations[weakest] ?? "none",
    features: Object.fromEntries(names.map((name) => [name, support(name)])),
    limits: {
      maxConcurrentExec: largest(all, "maxConcurrentExec"),
      maxTtlMs: largest(all, "maxTtlMs"),
      maxFileBytes: largest(all, "maxFileBytes"),
    },
  });
}

/** Undefined where one of them has no limit. */
function largest(all: readonly Capabilities[], name: keyof Limits): number | undefined {
  const limits = all.flatMap(({ limits }) => limits[name] ?? []);
  return limits.length === all.length ? Math.max(...limits) : undefined;
}
