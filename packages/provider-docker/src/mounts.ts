import { posix } from "node:path";
import type { MountSettings } from "dockerode";
import { refusal } from "./errors.js";
import type { DockerMount, DockerOptions } from "./options.js";
import { isOfImage, type Workspace } from "./workspace.js";

/** What of a machine leads to all of it, with what is below: engines' sockets and stores, devices, accounts, programs. */
const ofMachine = [
  ...["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"],
  ...["/var/lib/containerd", "/var/lib/containers", "/var/lib/docker", "/var/lib/kubelet", "/var/run"],
];
/** Likewise, without what is below. */
const ofMachineItself = ["/home", "/root", "/Users", "/private", "/opt", "/srv", "/mnt", "/media"];

/** Why a folder of the machine must not be mounted; undefined when it may be. */
export function whyUnfitSource(source: string, unsafe: boolean): string | undefined {
  if (!isAbsolute(source)) return "must be an absolute path without . and ..";
  if (unsafe) return undefined;
  const reaches = ofMachine.some((path) => isWithin(source, path) || isWithin(path, source));
  if (reaches || ofMachineItself.includes(source)) return 'gives away the machine: "unsafeMounts" allows it';
  if (/\.sock$/.test(source)) return 'is a socket by its name: "unsafeMounts" allows it';
  return undefined;
}

/** Whether one lies in the other: what a sandbox may write in one could lead the other elsewhere, by a link. */
export function areNested(sources: readonly string[]): readonly [string, string] | undefined {
  for (const inner of sources) {
    const outer = sources.find((other) => other !== inner && isWithin(inner, other));
    if (outer !== undefined) return [inner, outer];
  }
  return undefined;
}

/**
 * The mounts of a sandbox as the engine takes them. What is mounted below a source on its machine is not seen.
 * @throws SandboxError `INVALID` for a source that the provider's options do not list, and a target that covers something
 */
export function mountSettings(
  mounts: readonly DockerMount[],
  { mountSources = [] }: DockerOptions,
  workspace: Workspace,
): MountSettings[] {
  const taken = [...Object.keys(workspace.mounts), workspace.workdir, "/dev", "/.sandkit"];
  return mounts.map(({ source, target, readOnly = true }) => {
    if (!mountSources.includes(source)) {
      const listed = mountSources.length === 0 ? "it lists none" : `it lists ${mountSources.join(", ")}`;
      const next = 'add exactly this folder to "mountSources" of docker(), if sandboxes may have it';
      throw refusal("INVALID", `native.mounts: source "${source}" is not among "mountSources" (${listed}): ${next}`);
    }
    const covered = taken.find((path) => isWithin(path, target) || isWithin(target, path));
    if (!isAbsolute(target) || isOfImage(target) || covered !== undefined) {
      const why = covered === undefined ? "is no place for a mount" : `covers or lies in ${covered}`;
      throw refusal("INVALID", `native.mounts: target "${target}" ${why}: use a directory of its own, such as /data`);
    }
    taken.push(target);
    return {
      Type: "bind" as const,
      Source: source,
      Target: target,
      ReadOnly: readOnly,
      BindOptions: { Propagation: "rprivate" as const, NonRecursive: true },
    };
  });
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") && posix.resolve(path) === path && !/[\0\n]/.test(path);
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}
