import type { Capabilities } from "../capabilities.js";
import { type Deferred, deferred } from "../deferred.js";
import { SandboxError } from "../errors.js";
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
import { Lease } from "./lease.js";
import { type OpenedAgent, type OpenOptions, openAgent, type RemoteSessionOptions } from "./open-agent.js";
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
  let session: RemoteSession | undefined;
  const opened = await openAgent(box, options, { ttlMs: options.ttlMs, onPaused: () => session?.foundPaused() });
  session = new RemoteSession(box, options, opened);
  return session;
}

/** A session over a remote box. */
export class RemoteSession implements ProviderSession {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files: ProviderFiles;
  readonly native: unknown;
  readonly port?: (port: number, options?: { readonly waitMs?: number | undefined }) => Promise<PortInfo>;
  readonly pause?: () => Promise<void>;
  readonly resume?: () => Promise<void>;
  readonly snapshot?: (name?: string) => Promise<SnapshotInfo>;
  readonly fork?: (count: number) => Promise<ProviderSession[]>;
  readonly #box: RemoteBox;
  readonly #options: RemoteSessionOptions;
  readonly #lease: Lease;
  #opened: OpenedAgent;
  #paused = false;
  #destroying: Promise<void> | undefined;
  #resuming: Promise<void> | undefined;
  /** What waits for the agent, to be told when somebody else has paused the box. */
  readonly #waiting = new Set<Deferred<never>>();

  /** For `remoteSession` alone. */
  constructor(box: RemoteBox, options: RemoteSessionOptions, opened: OpenedAgent) {
    this.ref = box.ref;
    this.workdir = opened.agent.workdir;
    this.capabilities = opened.agent.capabilities;
    this.native = box.native;
    this.#box = box;
    this.#options = options;
    this.#opened = opened;
    this.files = remoteFiles((operation, work) => this.#call(operation, work), box.bulk);
    this.#lease = new Lease({
      leaseMs: options.leaseMs,
      ttlMs: options.ttlMs,
      renew: async (ms) => box.extend?.(ms),
    });
    if (box.extend) this.#lease.start(options.origin === "created" ? "later" : "now");
    const how = box.pause;
    if (box.port) this.port = (...args) => this.#require(box.port, "port")(...args);
    if (how) {
      this.pause = () => this.#pause(how);
      this.resume = () => {
        this.#resuming ??= this.#resume(how).finally(() => {
          this.#resuming = undefined;
        });
        return this.#resuming;
      };
    }
    if (box.snapshot)
      this.snapshot = (...args) => this.#still("snapshot", () => this.#require(box.snapshot, "snapshot")(...args));
    if (box.fork) this.fork = (...args) => this.#still("fork", () => this.#require(box.fork, "fork")(...args));
    this.#watch();
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

  destroy(): Promise<void> {
    this.#lease.stop();
    this.#paused = false;
    this.#destroying ??= this.#opened.agent.destroy().catch((error) => {
      this.#destroying = undefined;
      throw error;
    });
    return this.#destroying;
  }

  /** For the link: somebody else has paused the box. */
  foundPaused(): void {
    this.#paused = true;
    this.#lease.stop();
    const reason = this.#unavailable("was paused by somebody else: call resume() first");
    for (const call of this.#waiting) call.reject(reason);
    if (this.#box.pause?.keeps !== "files") return;
    const lost = this.#lost("was stopped by somebody else, which ended all that ran in it");
    // Nothing of it is reached, so there is nothing to be closed.
    this.#opened.agent.leave(lost).catch(() => undefined);
  }

  #use(operation: string): RemoteGuest {
    if (!this.#paused) return this.#opened.agent;
    throw this.#unavailable("is paused: call resume() first", operation);
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

  /** A vendor may have the box stand still while it is copied, which breaks connections: that is no pause. */
  async #still<Result>(operation: string, copy: () => Promise<Result>): Promise<Result> {
    this.#use(operation);
    return this.#opened.link.whileCopied(copy);
  }

  async #pause(how: NonNullable<RemoteBox["pause"]>): Promise<void> {
    this.#use("pause");
    const { agent, link } = this.#opened;
    this.#paused = true;
    this.#lease.stop();
    try {
      await link.suspend();
      await how.pause();
    } catch (error) {
      await link.resume();
      this.#goOn();
      throw error;
    }
    if (how.keeps === "files") await agent.leave(this.#lost("was paused, which ended all that ran in it"));
  }

  async #resume(how: NonNullable<RemoteBox["pause"]>): Promise<void> {
    await how.resume();
    const { agent, link } = this.#opened;
    if (!this.#paused && !link.stalled) return;
    const lives = how.keeps === "processes" && (await link.resume());
    if (lives && link.stalled) throw this.#unavailable("was resumed but is not reached: try again", "resume");
    if (!lives) {
      await agent.leave(this.#lost("was paused, and what ran in it has ended"));
      const anew = { ...this.#options, startAgent: true, signal: undefined };
      this.#opened = await openAgent(this.#box, anew, this.#openOptions);
      this.#watch();
    }
    this.#goOn();
  }

  #goOn(): void {
    this.#paused = false;
    if (this.#box.extend) this.#lease.start("now");
  }

  get #openOptions(): OpenOptions {
    return { ttlMs: this.#lease.restMs, onPaused: () => this.foundPaused() };
  }

  #watch(): void {
    const { agent } = this.#opened;
    // What fails here, the lease does.
    agent.closed.then(() => this.#agentEnded(agent)).catch(() => undefined);
  }

  /**
   * Without its agent a box is of no use to this client, unless it is only paused: it ends with the lease, if no others
   * renew it. One whose time is over is of no use to anybody, nor is one that was this client's alone.
   */
  async #agentEnded(agent: RemoteGuest): Promise<void> {
    if (this.#opened.agent !== agent || this.#paused || this.#destroying) return;
    this.#lease.stop();
    if (this.#box.pause && (await this.#box.info()).state === "paused") {
      this.foundPaused();
      return;
    }
    const own = this.#options.origin === "created" && !this.#options.detached;
    if (own || agent.failure?.code === "EXPIRED") await this.#box.destroy();
  }

  #lost(what: string): SandboxError {
    const details = { provider: this.ref.provider, sandboxId: this.ref.id };
    return new SandboxError("SANDBOX_LOST", `sandbox ${this.ref.id} ${what}: start it again`, details);
  }

  #unavailable(what: string, operation?: string): SandboxError {
    return new SandboxError("UNAVAILABLE", `sandbox ${this.ref.id} ${what}`, {
      provider: this.ref.provider,
      sandboxId: this.ref.id,
      operation,
    });
  }
}
