import { setTimeout } from "node:timers/promises";
import type { CreateSandbox, SandboxState } from "@daytona/api-client";
import { messageOf } from "@sandkit/core";
import type { Clock } from "../../clock.js";
import { EmulatedBox } from "../../emulated-box.js";
import { apiFailure } from "../api-failure.js";
import type { DaytonaOptions } from "../options.js";
import type { DaytonaQuirks } from "../quirks.js";
import { Toolbox } from "../toolbox/toolbox.js";
import { CloudSandbox } from "./cloud-sandbox.js";
import type { Snapshots } from "./snapshots.js";
import { type StartingPoint, startingPoint } from "./starting-point.js";

/** What the sandboxes stand on. */
export interface SandboxesContext {
  readonly options: DaytonaOptions;
  readonly quirks: DaytonaQuirks;
  readonly clock: Clock;
  readonly snapshots: Snapshots;
  /** Called when something has changed that counts for when it ends. */
  readonly changed: (sandbox: CloudSandbox) => void;
}

/** All sandboxes, and the changes of their states. */
export class Sandboxes {
  readonly #context: SandboxesContext;
  readonly #all = new Map<string, CloudSandbox>();
  readonly #work = new Set<Promise<void>>();

  constructor(context: SandboxesContext) {
    this.#context = context;
  }

  get all(): readonly CloudSandbox[] {
    return [...this.#all.values()];
  }

  /** By id or name. @throws ApiFailure 404 */
  get(idOrName: string): CloudSandbox {
    const found = this.#all.get(idOrName) ?? this.all.find(({ name }) => name === idOrName);
    if (!found) throw apiFailure(404, `Sandbox with ID or name ${idOrName} not found`);
    return found;
  }

  /** Begins to make one. @throws ApiFailure 400, 403, 409, 501 */
  create(request: CreateSandbox): CloudSandbox {
    const { name } = request;
    if (name && this.all.some((one) => one.name === name)) {
      throw apiFailure(409, `Sandbox with name ${name} already exists`);
    }
    checkIntervals(this.#context.options, request);
    return this.#make(request, startingPoint(this.#context.options, this.#context.snapshots, request));
  }

  async start(sandbox: CloudSandbox): Promise<void> {
    this.#require(sandbox, ["stopped", "archived", "paused"], "start");
    const during = sandbox.state === "archived" ? "restoring" : sandbox.state === "paused" ? "resuming" : "starting";
    await this.#change(sandbox, during, "started", async ({ box }) => {
      if (box.frozen) await box.thaw();
    });
  }

  async stop(sandbox: CloudSandbox): Promise<void> {
    this.#require(sandbox, ["started", "paused"], "stop");
    await this.#change(sandbox, "stopping", "stopped", (toolbox) => toolbox.stop());
  }

  async pause(sandbox: CloudSandbox): Promise<void> {
    this.#requireVm(sandbox, "paused");
    this.#require(sandbox, ["started"], "pause");
    await this.#change(sandbox, "pausing", "paused", async (toolbox) => {
      toolbox.cut();
      await toolbox.box.freeze();
    });
  }

  async archive(sandbox: CloudSandbox): Promise<void> {
    this.#require(sandbox, ["stopped"], "archive");
    await this.#change(sandbox, "archiving", "archived", async () => undefined);
  }

  async delete(sandbox: CloudSandbox): Promise<void> {
    if (sandbox.isChanging) throw apiFailure(409, "Sandbox state change in progress");
    await this.#destroy(sandbox);
  }

  /** Takes a snapshot of the files. @throws ApiFailure 409 when the name is taken */
  async snapshot(sandbox: CloudSandbox, name: string): Promise<void> {
    this.#require(sandbox, ["started", "stopped"], "snapshot");
    const { snapshots } = this.#context;
    const { options } = this.#startingPoint(sandbox);
    const snapshot = snapshots.add(name, options, { state: "snapshotting", sourceSandboxId: sandbox.id });
    await this.#change(sandbox, "snapshotting", sandbox.state, async ({ box }) => {
      snapshot.home = await box.save();
      snapshot.dto.size = snapshot.home.length / 1024 ** 3;
      snapshot.dto.state = "active";
    });
  }

  /** A new sandbox with the same files. */
  fork(sandbox: CloudSandbox, name: string | undefined): CloudSandbox {
    this.#requireVm(sandbox, "forked");
    this.#require(sandbox, ["started"], "fork");
    if (name && this.all.some((one) => one.name === name)) {
      throw apiFailure(409, `Sandbox with name ${name} already exists`);
    }
    const saved = this.#change(sandbox, "forking", "started", ({ box }) => box.save());
    return this.#make({ ...sandbox.request, name }, this.#startingPoint(sandbox), saved);
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    await Promise.all(this.#work);
    await Promise.all(this.all.map((sandbox) => sandbox.toolbox?.box.destroy()));
    this.#all.clear();
  }

  /** Ends one whose time has come, whatever it is doing. */
  async expire(sandbox: CloudSandbox): Promise<void> {
    if (sandbox.state !== "destroying") await this.#destroy(sandbox);
  }

  #make(request: CreateSandbox, from: StartingPoint, home?: Promise<Uint8Array | undefined>): CloudSandbox {
    const { options, clock, quirks } = this.#context;
    if (options.quota !== undefined && this.#all.size >= options.quota) {
      throw apiFailure(403, `Total sandbox limit exceeded. Maximum allowed: ${options.quota}`);
    }
    const sandbox = new CloudSandbox(request, clock.now(), {
      sandboxClass: options.sandboxClass ?? "container",
      snapshot: from.snapshot,
      buildInfo: from.buildInfo,
    });
    this.#all.set(sandbox.id, sandbox);
    const during = from.buildInfo ? "building_snapshot" : "creating";
    void this.#run(sandbox, during, "started", async () => {
      if (from.buildFailure !== undefined) throw new BuildFailure(from.buildFailure);
      const box = await EmulatedBox.create(options.provider, from.options, (await home) ?? from.home);
      // Its time was over before it was made.
      if (sandbox.state !== during) return box.destroy();
      sandbox.toolbox = new Toolbox(box, request.env ?? {}, quirks);
    });
    return sandbox;
  }

  #startingPoint({ request }: CloudSandbox): StartingPoint {
    return startingPoint(this.#context.options, this.#context.snapshots, request);
  }

  #destroy(sandbox: CloudSandbox): Promise<void> {
    sandbox.desired = "destroyed";
    return this.#run(sandbox, "destroying", "destroyed", async () => {
      sandbox.toolbox?.cut();
      await sandbox.toolbox?.box.destroy();
      this.#all.delete(sandbox.id);
    });
  }

  #require(sandbox: CloudSandbox, states: readonly SandboxState[], what: string): void {
    if (sandbox.isChanging) throw apiFailure(409, "Sandbox state change in progress");
    if (states.includes(sandbox.state)) return;
    throw apiFailure(400, `Sandbox is not in a valid state to ${what}: it is ${sandbox.state}`);
  }

  #requireVm({ sandboxClass }: CloudSandbox, what: string): void {
    if (sandboxClass === "container") throw apiFailure(400, `Sandboxes of class container cannot be ${what}`);
  }

  #change<Result>(
    sandbox: CloudSandbox,
    during: SandboxState,
    after: SandboxState,
    work: (toolbox: Toolbox) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { toolbox } = sandbox;
    if (!toolbox) throw apiFailure(400, `Sandbox has no machine: ${sandbox.errorReason ?? sandbox.state}`);
    let result: Result | undefined;
    return this.#run(sandbox, during, after, async () => {
      result = await work(toolbox);
    }).then(() => result);
  }

  /** Sets the state for the time of the work and after it; a failure of the work is a state too. */
  #run(sandbox: CloudSandbox, during: SandboxState, after: SandboxState, work: () => Promise<void>): Promise<void> {
    this.#enter(sandbox, during);
    const done = (async () => {
      try {
        await setTimeout(this.#context.quirks.stateDelayMs);
        await work();
        if (sandbox.state !== during) return;
        this.#enter(sandbox, after);
        if (after === "stopped" && sandbox.intervals.autoDelete === 0) await this.#destroy(sandbox);
      } catch (error) {
        sandbox.errorReason = messageOf(error);
        this.#enter(sandbox, error instanceof BuildFailure ? "build_failed" : "error");
      }
    })();
    this.#work.add(done);
    return done.finally(() => this.#work.delete(done));
  }

  #enter(sandbox: CloudSandbox, state: SandboxState): void {
    const now = this.#context.clock.now();
    sandbox.state = state;
    sandbox.updatedAt = now;
    if (state === "started") sandbox.lastActivityAt = now;
    if (state === "started" || state === "stopped" || state === "paused" || state === "archived")
      sandbox.desired = state;
    sandbox.stoppedAt = state === "stopped" || state === "paused" || state === "archived" ? now : undefined;
    this.#context.changed(sandbox);
  }
}

class BuildFailure extends Error {}

function checkIntervals({ sandboxClass }: DaytonaOptions, request: CreateSandbox): void {
  const { autoStopInterval = 0, autoPauseInterval = 0, autoDeleteInterval } = request;
  if (autoStopInterval < 0) throw apiFailure(400, "Auto-stop interval must be non-negative");
  if (autoPauseInterval && sandboxClass !== "linux-vm") {
    throw apiFailure(400, "Auto-pause is not supported for sandboxes of class container");
  }
  if (autoStopInterval && autoPauseInterval) {
    throw apiFailure(400, "At most one of autoStopInterval and autoPauseInterval may be non-zero");
  }
  if (autoPauseInterval && autoDeleteInterval === 0) {
    throw apiFailure(400, "Ephemeral sandboxes cannot have auto-pause enabled");
  }
}
