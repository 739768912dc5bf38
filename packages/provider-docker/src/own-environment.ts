import { posix } from "node:path";
import type { ContainerInspectInfo } from "dockerode";

/** Like the engine's, for images that say nothing. */
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * What a program of ours is started with in a running container, over the image's environment: its lists of places to
 * find programs and libraries, without those that the sandbox's programs can write to. An image may well name one,
 * such as `/app/.venv/bin`, and what is put there must not run in the place of ours.
 */
export function ownEnvironment({ Config, HostConfig }: ContainerInspectInfo): string[] {
  const writable = ["/dev/shm", ...Object.keys(HostConfig.Tmpfs ?? {})];
  const entries = Config.Env.map((entry): [string, string] => {
    const at = entry.indexOf("=");
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  const lists = entries.filter(([name]) => name === "PATH" || name.startsWith("LD_"));
  const kept = new Map(lists.map(([name, value]) => [name, withoutWritable(value, writable)]));
  return Array.from(new Map([...kept, ["PATH", kept.get("PATH") || usualPath]]), ([name, value]) => `${name}=${value}`);
}

function withoutWritable(list: string, writable: readonly string[]): string {
  const places = list.split(/[:; ]/).filter((place) => place.startsWith("/"));
  return places.filter((place) => !writable.some((root) => isWithin(posix.normalize(place), root))).join(":");
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
