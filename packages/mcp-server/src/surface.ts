import type { Capabilities } from "@sandkit/core";
import type { Config } from "./config.js";
import { type OptionalTool, optionalTools } from "./tool-names.js";

/** Languages of `run_code`, in the order shown. */
const languages = ["python", "javascript", "typescript", "shell"] as const;

/** A language of `run_code`. */
type Language = (typeof languages)[number];

/** What the tools can promise: the provider's capabilities under the policy of the config. */
export interface Surface {
  readonly languages: readonly Language[];
  /** `shell`: any command line. `argv`: one program with its arguments. */
  readonly commands: "shell" | "argv" | false;
  /** Tools beside the usual ones. */
  readonly optional: readonly OptionalTool[];
  /** True when code in a sandbox may reach anything outside it. */
  readonly openWorld: boolean;
  /** True when making a sandbox may ask a package index for what a call names. */
  readonly fetchesPackages: boolean;
  /** True when what is written may be files of the machine itself. */
  readonly touchesHost: boolean;
}

/** Without `capabilities` (the provider cannot be loaded) nothing is ruled out and nothing is promised. */
export function surfaceOf(config: Config, capabilities: Capabilities | undefined): Surface {
  if (capabilities === undefined) {
    const optional = config.tools;
    return { languages, commands: "shell", optional, openWorld: true, fetchesPackages: true, touchesHost: true };
  }
  const { features, isolation } = capabilities;
  const has: Record<Language, boolean> = {
    python: features["kernel.python"] !== false,
    javascript: features["kernel.javascript"] !== false,
    typescript: features["kernel.javascript"] !== false,
    shell: features["kernel.bash"] !== false || features.exec !== false,
  };
  return {
    languages: languages.filter((language) => has[language]),
    commands: features.exec !== false ? "shell" : features["exec.argv"] !== false && "argv",
    optional: config.tools.filter((tool) => features[optionalTools[tool]] !== false),
    openWorld: isolation === "none" || reaches(config.defaults.network),
    fetchesPackages: config.packagesFromCalls && features.packages !== false,
    touchesHost: isolation === "none",
  };
}

function reaches(network: Config["defaults"]["network"] = "none"): boolean {
  return typeof network === "object" ? network.allow.length > 0 : network !== "none";
}
