import { refusal } from "./errors.js";

/** Memory that files may not take: below it, filling them would leave the agent none to answer with. In MiB. */
const reserveMiB = 64;
const minDiskMiB = 16;
/** Parts of the writable space, in sixteenths. */
const shares = { workdir: 6, "/tmp": 6, "/app": 2, "/tools": 1, "/dev/shm": 1 } as const;
const inodesPerMiB = 64;

/** Where the image has what makes it run: covering these would leave nothing to start. */
const ofImage = /^\/(?:bin|boot|dev|etc|lib|lib32|lib64|libx32|proc|sbin|sys|usr\/(?:bin|lib|lib64|sbin))(?:\/.*)?$/;
const ofImageItself = /^\/(?:|home|opt|run|usr|usr\/local|var)$/;

const defaultWorkdir = "/workspace";
/** A workdir in one of these is a directory there, with the share of its own. */
const holders = ["/tmp", "/app", "/tools", defaultWorkdir] as const;
/** In the tmpfs of /tmp, so that packages and temporary files share their space and the workdir stays clean. */
export const home = "/tmp/.home";

/** The memory-backed file systems of one sandbox. */
export interface Workspace {
  readonly workdir: string;
  readonly memoryMiB: number;
  readonly diskMiB: number;
  /** Size in bytes, by where it is mounted. */
  readonly mounts: Readonly<Record<string, number>>;
  /** Size of /dev/shm, in bytes. */
  readonly sharedMemoryBytes: number;
}

/**
 * Lays out what can be written in a sandbox. All of it is memory, so it must leave the programs some.
 * @throws SandboxError `INVALID` when it cannot be laid out, naming the numbers
 */
export function layOutWorkspace(options: {
  readonly workdir?: string | undefined;
  readonly memoryMiB: number;
  readonly diskMiB?: number | undefined;
}): Workspace {
  const { workdir = defaultWorkdir, memoryMiB } = options;
  const most = memoryMiB - reserveMiB;
  const diskMiB = options.diskMiB ?? Math.min(Math.floor(memoryMiB / 2), most);
  if (memoryMiB < minDiskMiB + reserveMiB) {
    throw refusal("INVALID", `resources.memoryMiB ${memoryMiB}: must be at least ${minDiskMiB + reserveMiB}`);
  }
  if (diskMiB > most) {
    throw refusal(
      "INVALID",
      `resources.diskMiB ${diskMiB} is too much for resources.memoryMiB ${memoryMiB}: files are kept in memory, and ${reserveMiB} MiB stay for programs: at most ${Math.max(0, most)}, or give more memory`,
    );
  }
  if (diskMiB < minDiskMiB) {
    throw refusal("INVALID", `resources.diskMiB ${diskMiB}: must be at least ${minDiskMiB}`);
  }
  refuseUnfitWorkdir(workdir);
  const unit = Math.floor((diskMiB * 1024 * 1024) / 16 / 4096) * 4096;
  const mounts: Record<string, number> = {};
  for (const path of ["/tmp", "/app", "/tools"] as const) mounts[path] = shares[path] * unit;
  const holder = holders.find((path) => workdir === path || workdir.startsWith(`${path}/`)) ?? workdir;
  mounts[holder] = (mounts[holder] ?? 0) + shares.workdir * unit;
  return { workdir, memoryMiB, diskMiB, mounts, sharedMemoryBytes: shares["/dev/shm"] * unit };
}

/** The mounts as the engine takes them, owned by the user that programs run as. */
export function tmpfsOptions(mounts: Workspace["mounts"], user: string): Record<string, string> {
  const [uid, gid] = user.split(":");
  const entries = Object.entries(mounts).map(([path, bytes]) => {
    const inodes = Math.max(2048, Math.round((bytes / (1024 * 1024)) * inodesPerMiB));
    const mode = path === "/tmp" ? "1777" : "0755";
    // Docker mounts tmpfs without exec unless told so; compiled extension modules need it.
    return [path, `rw,exec,nosuid,nodev,size=${bytes},nr_inodes=${inodes},mode=${mode},uid=${uid},gid=${gid}`];
  });
  return Object.fromEntries(entries);
}

/** Whether what is mounted there covers what the image needs to run. */
export function isOfImage(path: string): boolean {
  return ofImage.test(path) || ofImageItself.test(path);
}

function refuseUnfitWorkdir(workdir: string): void {
  if (!isOfImage(workdir)) return;
  throw refusal(
    "INVALID",
    `workdir "${workdir}" would cover what the image needs to run: use ${defaultWorkdir}, or a directory of its own`,
  );
}
