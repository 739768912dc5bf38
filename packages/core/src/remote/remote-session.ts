import type { Capabilities } from "../capabilities.js";
import { type Deferred, deferred } from "../deferred.js";
import { type ErrorCode, SandboxError } from "../errors.js";
import { Once } from "../once.js";
import type {
  KernelOptions,
  PortInfo,
  ProviderFiles,
  ProviderKernel,
  ProviderProcess,
  ProviderSession,
  SandboxInfo,
  SandboxRef,
  SnapshotInfo,
  SpawnOptions,
} from "../provider.js";
import { BoxChanges } from "./box-changes.js";
import { defaultLeaseMs, Lease, saysGone } from "./lease.js";
import { type OpenedAgent, openAgent, type RemoteSessionOptions } from "./open-agent.js";
import type { RemoteBox } from "./remote-box.js";
import { remoteFiles } from "./remote-files.js";
import type { RemoteGuest } from "./remote-guest.js";

/**
 * The whole session of a vendor's machine, over a terminal of it: a link to the guest agent, which is started when none
 * runs there, for commands, kernels and files, and the vendor's own calls for the rest.
 * @throws SandboxError `UNSUPPORTED` for a box with neither Python nor a shell's usual tools, `UNAVAILABLE`, what the vendor refuses; or
 * `signal.reason`. The box is left as it is.
 */
export async function remoteSession(box: RemoteBox, options: RemoteSessionOptions): Promise<RemoteSession> {
  const joined = await joinRemote(box, options);
  if (joined instanceof RemoteSession) return joined;
  const what = joined === "ended" ? "its agent has ended, and it with it" : "it is still being set up by who made it";
  const code = joined === "ended" ? "NOT_FOUND" : "UNAVAILABLE";
  const { provider, id } = box.ref;
  const operation = options.origin === "created" ? "create" : "attach";
  throw new SandboxError(code, `sandbox ${id}: ${what}`, { provider, sandboxId: id, operation });
}

/**
 * The same for who may come too early or too late: `settingUp` while another client sets the box up, `ended` when
 * `startAgent` is false and no agent is there. The box is renewed only once its agent has answered.
 */
export async function joinRemote(
  box: RemoteBox,
  options: RemoteSessionOptions,
): Promise<RemoteSession | "settingUp" | "ended"> {
  let session: RemoteSession | undefined;
  const onPaused = () => session?.foundPaused();
  const opened = await openAgent(box, options, { ttlMs: options.ttlMs, onPaused });
  if (opened === "ended") return opened;
  if (opened.agent.isBeingSetUp) {
    await opened.agent.leave();
    return "settingUp";
  }
  session = new RemoteSession(box, options, opened);
  return session;
}

/** Nobody can tell which. */
const restarted = "was stopped and started by somebody else, or its agent was ended";

/** A session over a remote box. */
export class RemoteSession implements ProviderSession {
  readonly ref: SandboxRef;
  readonly files: ProviderFiles;
  readonly port?: (port: number, options?: { readonly waitMs?: number | undefined }) => Promise<PortInfo>;
  readonly pause?: () => Promise<void>;
  readonly resume?: () => Promise<void>;
  readonly snapshot?: (name?: string) => Promise<SnapshotInfo>;
  readonly fork?: (count: number) => Promise<ProviderSession[]>;
  readonly #box: RemoteBox;
  readonly #options: RemoteSessionOptions;
  readonly #lease: Lease;
  readonly #changes = new BoxChanges();
  #opened: OpenedAgent;
  /** Until it is resumed nothing in the box is reached. */
  #paused = false;
  #whyPaused = "is paused";
  /** Asks now and then whether what rests is still there. */
  #resting: NodeJS.Timeout | undefined;
  /** Why the box is no more, where that is known for certain. */
  #gone: SandboxError | undefined;
  readonly #destruction = new Once<void>();
  /** What waits for the agent, to be told when somebody else has paused the box. */
  readonly #waiting = new Set<Deferred<never>>();

  /** For this file alone. */
  constructor(box: RemoteBox, options: RemoteSessionOptions, opened: OpenedAgent) {
    this.ref = box.ref;
    this.#box = box;
    this.#options = options;
    this.#opened = opened;
    const hasWatch = opened.agent.capabilities.features["files.watch"] !== false;
    this.files = remoteFiles((...call) => this.#call(...call), box, hasWatch);
    this.#lease = new Lease({
      leaseMs: options.leaseMs,
      ttlMs: options.ttlMs,
      renew: async (ms) => box.extend?.(ms),
      confirmGone: () => this.#confirmGone(),
    });
    if (box.extend) this.#lease.start();
    const { pause: how, snapshot, fork } = box;
    if (box.port) this.port = (...args) => this.#require(box.port, "port")(...args);
    if (how) {
      this.pause = () => this.#change("pause", () => this.#pause(how));
      this.resume = () => this.#change("resume", () => this.#resume(how));
    }
    if (snapshot) this.snapshot = (...args) => this.#copy("snapshot", () => snapshot.apply(box, args));
    if (fork) this.fork = (...args) => this.#copy("fork", () => fork.apply(box, args));
    this.#watch();
  }

  /** After a pause that keeps files alone, the agent is another one. */
  get workdir(): string {
    return this.#opened.agent.workdir;
  }

  get capabilities(): Capabilities {
    return this.#opened.agent.capabilities;
  }

  get native(): unknown {
    return this.#box.native;
  }

  spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    return this.#call(
      "exec",
      (agent) => agent.spawn(command, options),
      (late) => late.kill("SIGKILL"),
    );
  }

  kernel(options: KernelOptions): Promise<ProviderKernel> {
    return this.#call(
      "kernel",
      (agent) => agent.kernel(options),
      (late) => late.kill(),
    );
  }

  extend(ttlMs: number): Promise<void> {
    return this.#call("extend", async (agent) => {
      await agent.extend(ttlMs);
      await this.#lease.extend(ttlMs);
    });
  }

  /** The box is set up: who joins may have it. */
  async ready(): Promise<void> {
    await this.#call("create", (agent) => agent.ready());
  }

  async info(): Promise<SandboxInfo> {
    const backend = { ...(await this.#box.info()), ref: this.ref };
    if (backend.state !== "running" || this.#paused) return { ...backend, shells: [], interpreters: [] };
    const found = await this.#opened.agent.look();
    const { shells = [], interpreters = [], expiresAt } = found ?? {};
    return {
      ...backend,
      ...(!found && { state: "gone" as const }),
      ...(expiresAt != null && { expiresAt: new Date(expiresAt) }),
      shells,
      interpreters,
    };
  }

  /**
   * Waits for a change of the box that is under way, as vendors refuse to remove what is changing, but not for long:
   * then it is removed all the same. What waits for its turn is refused.
   */
  destroy(): Promise<void> {
    this.#lease.stop();
    clearInterval(this.#resting);
    return this.#destruction.run(() => this.#destroy());
  }

  async #destroy(): Promise<void> {
    await this.#changes.settle();
    this.#paused = false;
    await this.#opened.agent.destroy();
  }

  /** For the link: somebody else has paused the box. */
  foundPaused(why = "was paused by somebody else"): void {
    this.#paused = true;
    this.#whyPaused = why;
    this.#lease.stop();
    this.#rest();
    const reason = this.#unavailable(`${why}: call resume() first`);
    for (const call of this.#waiting) call.reject(reason);
    if (this.#box.pause?.keeps !== "files") return;
    const lost = this.#lost("was stopped by somebody else, which ended all that ran in it: start it again");
    // Nothing of it is reached, so there is nothing to be closed.
    this.#opened.agent.leave(lost).catch(() => undefined);
  }

  /** While a box is paused nobody renews it: what waits for its resume is told when it has gone. */
  #rest(): void {
    clearInterval(this.#resting);
    const ask = () => this.#confirmGone().catch(() => undefined);
    this.#resting = setInterval(ask, (this.#options.leaseMs ?? defaultLeaseMs) / 3);
    this.#resting.unref();
  }

  /** For who was told that there is no such box: the vendor may say so of a paused one too. */
  async #confirmGone(): Promise<boolean> {
    if (this.#gone) return true;
    const { state } = await this.#box.info();
    if (this.#destruction.begun) return true;
    if (state === "paused" && !this.#paused) this.foundPaused();
    if (state !== "gone") return false;
    const why = (await this.#box.explainLoss?.().catch(() => undefined)) ?? "its time was up, or somebody removed it";
    // What runs in it is told at once: its link would look for the box for a while yet.
    await this.#end(this.#lost(`is gone (${why}): create a new one`));
    return true;
  }

  async #end(why: SandboxError): Promise<void> {
    this.#gone ??= why;
    this.#lease.stop();
    clearInterval(this.#resting);
    await this.#opened.agent.leave(this.#gone);
  }

  #use(operation: string): RemoteGuest {
    const gone = this.#gone;
    if (gone) throw new SandboxError(gone.code, gone.message, { ...gone.toJSON(), operation, cause: gone });
    if (!this.#paused) return this.#opened.agent;
    throw this.#unavailable(`${this.#whyPaused}: call resume() first`, operation);
  }

  /** What was asked for before somebody paused the box would wait for who knows how long; it may happen still. */
  async #call<Result>(
    operation: string,
    work: (agent: RemoteGuest) => Promise<Result>,
    discard?: (late: Result) => Promise<void>,
  ): Promise<Result> {
    const agent = this.#use(operation);
    const standstill = deferred<never>();
    this.#waiting.add(standstill);
    const working = work(agent);
    try {
      return await Promise.race([working, standstill.promise]);
    } catch (error) {
      if (this.#paused) working.then((late) => discard?.(late)).catch(() => undefined);
      throw error;
    } finally {
      this.#waiting.delete(standstill);
    }
  }

  #require<Call extends (...args: never[]) => unknown>(call: Call | undefined, operation: string): Call {
    this.#use(operation);
    if (!call) throw new Error(`${operation} has vanished from a box that had it`);
    return call.bind(this.#box) as Call;
  }

  /** None begins once the box is being destroyed, or is no more. */
  #change<Result>(operation: string, work: () => Promise<Result>): Promise<Result> {
    const isBeingDestroyed = () => this.#error("NOT_FOUND", "is being destroyed: create a new one", operation);
    return this.#changes.run(work, () => (this.#destruction.begun ? isBeingDestroyed() : this.#gone));
  }

  /** A vendor may have the box stand still while it is copied, which breaks connections: that is no pause. */
  #copy<Result>(operation: string, copy: () => Promise<Result>): Promise<Result> {
    return this.#change(operation, async () => {
      this.#use(operation);
      return this.#opened.link.whileCopied(copy);
    });
  }

  async #pause(how: NonNullable<RemoteBox["pause"]>): Promise<void> {
    if (this.#paused) return;
    const { agent, link } = this.#opened;
    this.#paused = true;
    this.#whyPaused = "is paused";
    // A renewal that comes after it would undo the longer life of what rests.
    await this.#lease.stop();
    try {
      await link.suspend();
      await how.pause();
      this.#rest();
    } catch (error) {
      await link.resume();
      this.#goOn();
      throw error;
    }
    if (how.keeps === "files")
      await agent.leave(this.#lost("was paused, which ended all that ran in it: start it again"));
  }

  /** Of a box whose time is over, or that is no more, nothing is woken. */
  async #wake(how: NonNullable<RemoteBox["pause"]>): Promise<void> {
    if (this.#paused && this.#lease.isOver) await this.#expire(this.#error("EXPIRED", "has ended: its time is over"));
    try {
      await how.resume();
    } catch (error) {
      if (saysGone(error)) await this.#confirmGone();
      throw this.#gone ?? error;
    }
  }

  async #resume(how: NonNullable<RemoteBox["pause"]>): Promise<void> {
    await this.#wake(how);
    const { agent, link } = this.#opened;
    if (!this.#paused && !link.stalled) return;
    const lives = how.keeps === "processes" && (await link.resume());
    if (lives && link.stalled) throw this.#unavailable("was resumed but is not reached: try again", "resume");
    if (!lives) {
      await agent.leave(this.#lost("was paused, and what ran in it has ended: start it again"));
      this.#opened = await this.#openAnew();
      this.#watch();
      // It was not waited for any longer.
      if (this.#destruction.begun) await this.#opened.agent.leave();
    }
    this.#goOn();
  }

  async #openAnew(): Promise<OpenedAgent> {
    const anew = { ...this.#options, startAgent: true, settingUp: false, signal: undefined };
    const opened = await openAgent(this.#box, anew, { ttlMs: this.#lease.restMs, onPaused: () => this.foundPaused() });
    if (opened === "ended") throw this.#unavailable("was resumed, but its agent has ended: create a new one", "resume");
    return opened;
  }

  #goOn(): void {
    if (this.#destruction.begun || this.#gone) return;
    this.#paused = false;
    clearInterval(this.#resting);
    if (this.#box.extend) this.#lease.start();
  }

  #watch(): void {
    const { agent } = this.#opened;
    // What fails here, the lease does.
    agent.closed.then(() => this.#agentEnded(agent)).catch(() => undefined);
  }

  /**
   * Without its agent a box is of no use to this client, unless it is only paused: it ends with the lease, if no others
   * renew it. One that was this client's alone is of no use to anybody.
   */
  async #agentEnded(agent: RemoteGuest): Promise<void> {
    if (this.#opened.agent !== agent || this.#destruction.begun || this.#gone) return;
    if (agent.failure?.code === "EXPIRED") return this.#expire(agent.failure);
    if (this.#paused) return;
    this.#lease.stop();
    const { pause } = this.#box;
    if (pause) {
      const { state } = await this.#box.info();
      if (this.#opened.agent !== agent) return;
      if (state === "paused") return this.foundPaused();
      // The files of one that was merely stopped and started are not ours to remove: without a resume its lease ends it.
      if (state === "running" && pause.keeps === "files") return this.foundPaused(restarted);
    }
    if (this.#options.origin === "created" && !this.#options.detached) await this.#box.destroy();
  }

  /** A box whose time is over is of no use to anybody, paused or not. @throws the reason, once that is removed */
  async #expire(why: SandboxError): Promise<never> {
    await this.#end(why);
    await this.#box.destroy();
    throw why;
  }

  #lost(what: string): SandboxError {
    return this.#error("SANDBOX_LOST", what);
  }

  #unavailable(what: string, operation?: string): SandboxError {
    return this.#error("UNAVAILABLE", what, operation);
  }

  #error(code: ErrorCode, what: string, operation?: string): SandboxError {
    const { provider, id } = this.ref;
    return new SandboxError(code, `sandbox ${id} ${what}`, { provider, sandboxId: id, operation });
  }
}
