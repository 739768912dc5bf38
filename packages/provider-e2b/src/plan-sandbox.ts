import { type CreateOptions, checkRequirements, describeIssues } from "@sandkit/core";
import { providerName, refusal } from "./errors.js";
import { indexHostsOf } from "./index-hosts.js";
import { type Egress, egressOf } from "./network.js";
import { type E2BNative, type E2BOptions, nativeSchema } from "./options.js";
import { type StartingImage, startingImage } from "./templates.js";

/** What a create asks for, parsed. */
export interface SandboxPlan {
  readonly image: StartingImage;
  /** What it may reach while packages are installed. */
  readonly startEgress: Egress;
  /** What it may reach after that; absent: the same. */
  readonly egress?: Egress | undefined;
  readonly packages: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly native: E2BNative;
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<E2BNative>, options: E2BOptions): SandboxPlan {
  const { env = {}, network = "none" } = create;
  const image = startingImage(create, options.templates);
  const packages = checkRequirements(providerName, create.packages);
  if (packages.length > 0 && image.name?.startsWith("node")) {
    const next = `install them in the sandbox by npm, with "network": "packages" and packageHosts`;
    throw refusal(
      "UNSUPPORTED",
      `option "packages": of template "${image.name}" only packages of Python can be: ${next}`,
    );
  }
  const hosts = [...(options.packageHosts ?? []), ...indexHostsOf(env)];
  const packageHosts = hosts.length > 0 ? hosts : undefined;
  const egress = egressOf(network, packageHosts);
  const base = { image, packages, env, native: parseNative(create.native) };
  if (packages.length === 0 || network === "full" || network === "packages") return { ...base, startEgress: egress };
  return { ...base, startEgress: egressOf("packages", packageHosts), egress };
}

function parseNative(native: unknown): E2BNative {
  const parsed = nativeSchema.safeParse(native ?? {});
  if (parsed.success) return parsed.data;
  throw refusal("INVALID", `option "native": ${describeIssues(parsed.error)}`);
}
