import type { BuildInfo, CreateSandbox } from "@daytona/api-client";
import type { CreateOptions } from "@sandkit/core";
import { networkOption } from "../../network-wish.js";
import { apiFailure } from "../api-failure.js";
import type { DaytonaOptions } from "../options.js";
import { defaultUser } from "./cloud-sandbox.js";
import type { Snapshots } from "./snapshots.js";

/** Snapshots that every organisation has. */
export const generalSnapshots = ["daytona-small", "daytona-medium", "daytona-large"] as const;

/** What a new sandbox starts from. */
export interface StartingPoint {
  readonly options: CreateOptions;
  /** The folder to put in place first. */
  readonly home?: Uint8Array | undefined;
  readonly snapshot?: string | undefined;
  readonly buildInfo?: BuildInfo | undefined;
  /** Why it cannot be built, which is told only when that is tried. */
  readonly buildFailure?: string | undefined;
}

/** Options of the request that are not there in this emulator; each is refused by name. */
const missing = ["gpu", "gpuType", "spot", "kvm", "linkedSandbox", "outboundProxyUrl", "otelEndpointOverride"] as const;

/** What is asked for, as options of the provider. @throws ApiFailure for what cannot be had */
export function startingPoint(options: DaytonaOptions, snapshots: Snapshots, request: CreateSandbox): StartingPoint {
  refuseWhatIsMissing(request);
  const base = request.buildInfo
    ? fromDockerfile(options, request.buildInfo.dockerfileContent)
    : fromSnapshot(options, snapshots, request);
  const { features } = options.provider.capabilities;
  const resources = {
    ...base.options.resources,
    ...(request.cpu && features["resources.cpu"] ? { cpus: request.cpu } : {}),
    ...(request.memory && features["resources.memory"] ? { memoryMiB: request.memory * 1_024 } : {}),
    ...(request.disk && features["resources.disk"] ? { diskMiB: request.disk * 1_024 } : {}),
  };
  return { ...base, options: { ...base.options, ...networkOf(options, request), resources } };
}

/** The provider's option for the network that is asked for. @throws ApiFailure 501 */
export function networkOf(
  options: DaytonaOptions,
  { networkBlockAll, networkAllowList, domainAllowList }: CreateSandbox,
): Pick<CreateOptions, "network"> {
  const allow = [networkAllowList, domainAllowList].flatMap((list) => list?.split(",") ?? []).map((one) => one.trim());
  if (!networkBlockAll && allow.length === 0) return {};
  const wish = networkOption(options, networkBlockAll ? "none" : { allow });
  if ("missing" in wish) throw apiFailure(501, wish.missing);
  return wish;
}

function refuseWhatIsMissing(request: CreateSandbox): void {
  for (const option of missing) {
    if (request[option]) throw apiFailure(501, `this emulator has no "${option}": leave it out`);
  }
  if (request.user && request.user !== defaultUser) {
    throw apiFailure(501, `this emulator has no users but its own: leave "user" out`);
  }
  if (request.volumes?.length) throw apiFailure(501, 'this emulator has no "volumes": leave them out');
  if (request.secrets?.length) throw apiFailure(501, 'this emulator has no "secrets": leave them out');
}

function fromSnapshot(options: DaytonaOptions, snapshots: Snapshots, request: CreateSandbox): StartingPoint {
  if (request.cpu || request.memory || request.disk) {
    throw apiFailure(400, "Cannot specify Sandbox resources when using a snapshot");
  }
  const name = request.snapshot ?? generalSnapshots[0];
  const made = snapshots.find(name);
  if (made) {
    if (made.dto.state !== "active") throw apiFailure(400, `Snapshot ${name} is ${made.dto.state}`);
    made.dto.lastUsedAt = new Date();
    return { options: { ...options.machine, ...made.options }, home: made.home, snapshot: made.dto.name };
  }
  const template = options.templates?.[name];
  if (!template && !generalSnapshots.some((one) => one === name)) {
    throw apiFailure(400, `Snapshot ${name} not found. Did you add it through the Daytona Dashboard?`);
  }
  return { options: { ...options.machine, ...template }, snapshot: name };
}

/** An image by its name; anything that would have to be built fails as a build does. */
export function fromDockerfile(options: DaytonaOptions, dockerfileContent: string): StartingPoint {
  const now = new Date();
  const buildInfo = { dockerfileContent, createdAt: now, updatedAt: now, snapshotRef: "" };
  const [, image = ""] = /^\s*FROM\s+(\S+)\s*$/.exec(dockerfileContent) ?? [];
  const template = options.templates?.[image];
  if (template) return { options: { ...options.machine, ...template }, buildInfo };
  const buildFailure = image
    ? `image ${image} is not among the templates of this emulator`
    : "this emulator runs no instructions of a Dockerfile: a single FROM with one of its templates is all it takes";
  return { options: {}, buildInfo, buildFailure };
}
