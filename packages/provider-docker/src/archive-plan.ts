import type { ContainerInspectInfo } from "dockerode";
import { ownEnvironment } from "./own-environment.js";
import type { ArchivePlan } from "./pack-workspace.js";

/** What of a container an archive is to hold: all that can be written to, but for shared memory. */
export function archivePlanOf(inspected: ContainerInspectInfo): ArchivePlan {
  const { HostConfig, State } = inspected;
  const roots = Object.keys(HostConfig.Tmpfs ?? {}).filter((path) => path !== "/dev/shm");
  return {
    roots,
    env: environmentOf(inspected),
    ...(HostConfig.ReadonlyRootfs === false && { rootSince: new Date(State.StartedAt) }),
  };
}

/** What finds programs of the image, and not what a guest has put in their place. */
export function environmentOf(inspected: ContainerInspectInfo): Record<string, string> {
  const entries = ownEnvironment(inspected).map((entry): [string, string] => {
    const at = entry.indexOf("=");
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
