import type { ContainerInspectInfo } from "dockerode";
import { ownEnvironment } from "./own-environment.js";
import type { ArchivePlan } from "./pack-workspace.js";
import type { UnpackPlan } from "./unpack-workspace.js";

/** For the records of many small files. */
const sparesBytes = 32 * 1024 * 1024;

/** What of a container an archive is to hold: all that can be written to, but for shared memory. */
export function archivePlanOf(inspected: ContainerInspectInfo): ArchivePlan {
  const { HostConfig, State } = inspected;
  const places = placesOf(inspected);
  const bytes = places.map(([, options]) => Number(/\bsize=(\d+)/.exec(options)?.[1] ?? 0));
  return {
    roots: places.map(([path]) => path),
    env: environmentOf(inspected),
    maxBytes: HostConfig.ReadonlyRootfs ? 2 * bytes.reduce((sum, size) => sum + size, sparesBytes) : undefined,
    ...(HostConfig.ReadonlyRootfs === false && { rootSince: new Date(State.StartedAt) }),
  };
}

/** How such an archive gets into a container. */
export function unpackPlanOf(inspected: ContainerInspectInfo): UnpackPlan {
  const foreign = placesOf(inspected).flatMap(([path, options]) => (/\buid=/.test(options) ? [] : [path]));
  return { env: environmentOf(inspected), foreign };
}

/** Podman has some that nobody can write to. */
function placesOf({ HostConfig }: ContainerInspectInfo): [path: string, options: string][] {
  const places = Object.entries(HostConfig.Tmpfs ?? {});
  return places.filter(([path, options]) => path !== "/dev/shm" && !/^ro\b/.test(options));
}

/** What finds programs of the image, and not what a guest has put in their place. */
function environmentOf(inspected: ContainerInspectInfo): Record<string, string> {
  const entries = ownEnvironment(inspected).map((entry): [string, string] => {
    const at = entry.indexOf("=");
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
