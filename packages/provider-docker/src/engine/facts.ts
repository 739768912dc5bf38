import type Dockerode from "dockerode";

/** What an engine says of itself that matters here. */
export interface EngineFacts {
  readonly processors: number;
  readonly memoryBytes: number;
  readonly runtimes: readonly string[];
  readonly defaultRuntime: string;
  /** Of `name=seccomp`, `name=rootless`, `name=userns`: the names. */
  readonly security: readonly string[];
  readonly cgroupVersion: string;
  /** Driver of its storage, and the file system under it. */
  readonly storage: string;
  /** Such as `Debian GNU/Linux 12, Linux 6.1.0, x86_64`. */
  readonly machine: string;
  /** What it can hold containers to. */
  readonly limits: Readonly<Record<Limit, boolean>>;
}

/** What containers are held to. */
export type Limit = "memory" | "swap" | "processors" | "processes";

/** @throws whatever the engine's client throws */
export async function askFacts(dockerode: Dockerode): Promise<EngineFacts> {
  const info: Partial<Record<string, unknown>> = await dockerode.info();
  const text = (name: string) => (typeof info[name] === "string" ? info[name] : "");
  const number = (name: string) => (typeof info[name] === "number" ? info[name] : 0);
  const options = Array.isArray(info.SecurityOptions) ? info.SecurityOptions.map(String) : [];
  const security = options.map((option) => option.match(/name=([^,]+)/)?.[1] ?? option);
  // Podman tells it here alone.
  if (info.Rootless === true && !security.includes("rootless")) security.push("rootless");
  const cgroupVersion = text("CgroupVersion") || "1";
  // There nobody but root may make groups, whatever an engine says of the kernel.
  const hasGroups = !(security.includes("rootless") && cgroupVersion === "1");
  const status: [string, string][] = Array.isArray(info.DriverStatus) ? info.DriverStatus : [];
  const below = status.find(([name]) => name === "Backing Filesystem")?.[1];
  return {
    processors: Math.max(1, number("NCPU")),
    memoryBytes: number("MemTotal"),
    runtimes: Object.keys(info.Runtimes ?? {}),
    defaultRuntime: text("DefaultRuntime"),
    security,
    cgroupVersion,
    storage: text("Driver") + (below ? ` on ${below}` : ""),
    machine: [text("OperatingSystem"), `Linux ${text("KernelVersion")}`, text("Architecture")].join(", "),
    limits: {
      memory: hasGroups && info.MemoryLimit !== false,
      swap: hasGroups && info.SwapLimit !== false,
      processors: hasGroups && info.CpuCfsQuota !== false,
      processes: hasGroups && info.PidsLimit !== false,
    },
  };
}
