import { randomBytes, randomUUID } from "node:crypto";
import type { CreateSandbox, Sandbox, SandboxListItem, SandboxState } from "@daytona/api-client";
import type { Toolbox } from "../toolbox/toolbox.js";

/** States in which a change is under way, and no other one is taken. */
const changing: ReadonlySet<SandboxState> = new Set<SandboxState>([
  "creating",
  "starting",
  "stopping",
  "destroying",
  "pausing",
  "resuming",
  "archiving",
  "restoring",
  "snapshotting",
  "forking",
  "resizing",
  "building_snapshot",
  "pulling_snapshot",
  "pending_build",
]);

/** What the organisation of every key is called. */
export const organizationId = "0b5f3c1e-5f0e-4d1e-9a53-7a0a7b6f2d11";

/** Who all sandboxes say that they work as. */
export const defaultUser = "daytona";

/** Minutes, as the API counts them. */
export interface Intervals {
  autoStop: number;
  autoPause: number;
  autoArchive: number;
  autoDelete: number;
}

/** One sandbox as the control API keeps it. */
export class CloudSandbox {
  readonly id = randomUUID();
  readonly name: string;
  readonly request: CreateSandbox;
  readonly sandboxClass: "container" | "linux-vm";
  readonly createdAt: number;
  readonly snapshot: string | undefined;
  readonly buildInfo: Sandbox["buildInfo"];
  readonly previewToken = randomBytes(16).toString("hex");
  signingKey = randomBytes(32).toString("hex");
  state: SandboxState = "creating";
  desired: NonNullable<Sandbox["desiredState"]> = "started";
  errorReason: string | undefined;
  labels: Record<string, string>;
  network: Pick<CreateSandbox, "networkBlockAll" | "networkAllowList" | "domainAllowList">;
  intervals: Intervals;
  isPublic: boolean;
  updatedAt: number;
  lastActivityAt: number;
  /** Since when it stands still, for what counts from there. */
  stoppedAt: number | undefined;
  /** When it ends whatever its state. */
  destroyAt: number | undefined;
  /** What answers for the machine; none while there is no machine. */
  toolbox: Toolbox | undefined;

  constructor(
    request: CreateSandbox,
    now: number,
    made: Pick<CloudSandbox, "sandboxClass" | "snapshot" | "buildInfo">,
  ) {
    this.request = request;
    this.name = request.name || this.id;
    this.sandboxClass = made.sandboxClass;
    this.snapshot = made.snapshot;
    this.buildInfo = made.buildInfo;
    this.labels = { ...request.labels };
    this.isPublic = request.public ?? false;
    const { networkBlockAll, networkAllowList, domainAllowList } = request;
    this.network = { networkBlockAll, networkAllowList, domainAllowList };
    this.intervals = intervalsOf(request, made.sandboxClass);
    this.createdAt = this.updatedAt = this.lastActivityAt = now;
    this.destroyAt = request.ttlMinutes ? now + request.ttlMinutes * 60_000 : undefined;
  }

  /** Whether a change of state is under way. */
  get isChanging(): boolean {
    return changing.has(this.state);
  }

  /** What lists tell of it. */
  listItem(toolboxProxyUrl: string): SandboxListItem {
    const { request, network, intervals } = this;
    return {
      id: this.id,
      organizationId,
      name: this.name,
      target: request.target ?? "us",
      sandboxClass: this.sandboxClass,
      state: this.state,
      desiredState: this.desired,
      snapshot: this.snapshot,
      user: defaultUser,
      errorReason: this.errorReason,
      recoverable: false,
      public: this.isPublic,
      networkBlockAll: network.networkBlockAll ?? false,
      networkAllowList: network.networkAllowList,
      domainAllowList: network.domainAllowList,
      cpu: request.cpu ?? 1,
      gpu: request.gpu ?? 0,
      memory: request.memory ?? 1,
      disk: request.disk ?? 3,
      labels: this.labels,
      backupState: "None",
      autoStopInterval: intervals.autoStop,
      autoPauseInterval: intervals.autoPause,
      autoArchiveInterval: intervals.autoArchive,
      autoDeleteInterval: intervals.autoDelete,
      autoDestroyAt: this.destroyAt === undefined ? undefined : new Date(this.destroyAt).toISOString(),
      createdAt: new Date(this.createdAt).toISOString(),
      updatedAt: new Date(this.updatedAt).toISOString(),
      lastActivityAt: new Date(this.lastActivityAt).toISOString(),
      daemonVersion: "0.190.0",
      toolboxProxyUrl,
    };
  }

  /** All that is told of it. */
  dto(toolboxProxyUrl: string): Sandbox {
    const env = { ...this.request.env };
    return { ...this.listItem(toolboxProxyUrl), env, volumes: [], buildInfo: this.buildInfo };
  }
}

function intervalsOf(request: CreateSandbox, sandboxClass: CloudSandbox["sandboxClass"]): Intervals {
  const { autoStopInterval, autoPauseInterval, autoArchiveInterval, autoDeleteInterval } = request;
  // A machine that can be paused is, by default, instead of being stopped.
  const pauses = sandboxClass === "linux-vm" && autoStopInterval === undefined && autoDeleteInterval !== 0;
  return {
    autoPause: autoPauseInterval ?? (pauses ? 60 : 0),
    autoStop: autoStopInterval ?? (pauses || autoPauseInterval ? 0 : 15),
    autoArchive: autoArchiveInterval ?? 7 * 24 * 60,
    autoDelete: autoDeleteInterval ?? -1,
  };
}
