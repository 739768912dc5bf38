import type { ContainerCreateOptions, DeviceRequest, MountSettings } from "dockerode";
import type { DockerNative } from "./options.js";
import { seccompOption } from "./seccomp-profile.js";
import { tmpfsOptions, type Workspace } from "./workspace.js";

/** Who the container's first program is, which decides with what it starts. */
export type FirstProgram = "python" | "node" | "shell";

/** What one container is made of. */
export interface ContainerPlan {
  readonly image: string;
  readonly command: readonly string[];
  readonly first: FirstProgram;
  readonly labels: Readonly<Record<string, string>>;
  /** Numeric `uid:gid` of all programs. */
  readonly user: string;
  readonly workspace: Workspace;
  readonly cpus: number;
  readonly pids: number;
  readonly network: "none" | "bridge";
  readonly runtime?: string | undefined;
  /** Root on a writable root, by the caller's wish. */
  readonly unsafeRoot: boolean;
  /** Whether the first program's stdin is our channel. */
  readonly attached: boolean;
  /** Directories that the image declares as volumes: as those they could grow without bound. */
  readonly volumes: readonly string[];
  readonly mounts?: readonly MountSettings[];
  readonly gpus?: DockerNative["gpus"];
}

/** Of one process. Below what engines usually have themselves: more than that they could not give. */
const openFiles = 16_384;
/** For each directory that the image declares as a volume. */
const volumeBytes = 1024 * 1024;
/** What root needs to install packages and to end what it started as others, and nothing of what reaches the machine. */
const rootCapabilities = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETFCAP"];

/** A container that can do nothing but compute: no privileges, no network, no place that grows without bound. */
export function hardenedContainer(plan: ContainerPlan): ContainerCreateOptions {
  const { workspace } = plan;
  const memory = workspace.memoryMiB * 1024 * 1024;
  const user = plan.unsafeRoot ? "0:0" : plan.user;
  const volumes = Object.fromEntries(plan.volumes.map((path) => [path, volumeBytes]));
  return {
    Image: plan.image,
    // As the entrypoint: whatever the image would start first is not.
    Entrypoint: [...plan.command],
    Cmd: [],
    Labels: { ...plan.labels },
    Hostname: "sandbox",
    // The agent in JavaScript gives root up by itself, as its first act; it has no other way to be unreadable.
    User: plan.first === "node" ? "0:0" : user,
    WorkingDir: "/",
    Healthcheck: { Test: ["NONE"] },
    OpenStdin: plan.attached,
    StdinOnce: plan.attached,
    AttachStdin: plan.attached,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    StopTimeout: 1,
    HostConfig: {
      AutoRemove: true,
      // The agent in Python is itself the first process, which nobody inside can kill or look into.
      Init: plan.first !== "python",
      NetworkMode: plan.network,
      IpcMode: "private",
      ReadonlyRootfs: !plan.unsafeRoot,
      Privileged: false,
      CapDrop: ["ALL"],
      CapAdd: capabilitiesOf(plan),
      SecurityOpt: ["no-new-privileges", seccompOption],
      Memory: memory,
      // The sum of memory and swap: no swap, or the cap would be twice what was asked for.
      MemorySwap: memory,
      NanoCpus: Math.round(plan.cpus * 1e9),
      PidsLimit: plan.pids,
      Ulimits: [
        { Name: "nofile", Soft: openFiles, Hard: openFiles },
        { Name: "core", Soft: 0, Hard: 0 },
      ],
      ShmSize: workspace.sharedMemoryBytes,
      Tmpfs: tmpfsOptions({ ...volumes, ...workspace.mounts }, user),
      // What a program writes to the first program's output would fill the disk of the engine.
      LogConfig: { Type: "none", Config: {} },
      ...(plan.runtime !== undefined && { Runtime: plan.runtime }),
      ...(plan.mounts && plan.mounts.length > 0 && { Mounts: [...plan.mounts] }),
      ...(plan.gpus !== undefined && { DeviceRequests: [gpuRequest(plan.gpus)] }),
    },
  };
}

/** As `docker run --gpus` asks for them. */
function gpuRequest(gpus: NonNullable<DockerNative["gpus"]>): DeviceRequest {
  const which = typeof gpus === "object" ? { DeviceIDs: [...gpus] } : { Count: gpus === "all" ? -1 : gpus };
  return { Driver: "", Options: {}, Capabilities: [["gpu"]], ...which };
}

function capabilitiesOf({ first, unsafeRoot }: ContainerPlan): string[] {
  if (unsafeRoot) return rootCapabilities;
  return first === "node" ? ["SETUID", "SETGID"] : [];
}
