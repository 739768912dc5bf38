import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { type Capabilities, capabilities, requireFeature, type Support } from "../capabilities.js";
import { unlessAborted } from "../deadline.js";
import { SandboxError } from "../errors.js";
import type { Contact } from "../network/contact.js";
import { Once } from "../once.js";
import { PortDoors } from "../ports/port-doors.js";
import type {
  KernelLanguage,
  KernelOptions,
  PortInfo,
  ProviderFiles,
  ProviderKernel,
  ProviderProcess,
  ProviderSession,
  SandboxInfo,
  SandboxRef,
  SpawnOptions,
} from "../provider.js";
import type { StageFile } from "../staged-file.js";
import { agentConnect } from "./agent-connect.js";
import { agentFiles } from "./agent-files.js";
import { startAgentKernel } from "./agent-kernel.js";
import { AgentProcess } from "./agent-process.js";
import { ask } from "./ask.js";
import type { Channel } from "./channel.js";
import { AgentConnection } from "./connection.js";
import { askInfo, greet } from "./greet.js";
import { checked } from "./messages.js";
import type { AgentInfo, AgentReady, Framing } from "./protocol.js";
import { agentStage } from "./stage-file.js";

const startTimeoutMs = 30_000;

/** What programs of a box reach by connecting to a port of their 127.0.0.1. */
export interface ServedNetwork {
  readonly port: number;
  /** Serves one connection to its end. */
  accept(connection: Duplex): void;
  onContact?(listener: (contact: Contact) => void): void;
  /** Ends what is under way, once the session is over. */
  close?(): Promise<void>;
}

/** What a provider knows of the box that its channel leads to. */
export interface AgentSessionOptions {
  readonly ref: SandboxRef;
  /** What the box may be able to do. Kernels, terminal, tree kill and git are narrowed to what its agent finds there. */
  readonly capabilities: Capabilities;
  /** Default `binary`; `text` for channels that are not exact. */
  readonly framing?: Framing | undefined;
  readonly workdir: string;
  /** Over the environment of the box. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Made when missing. */
  readonly directories?: readonly string[] | undefined;
  /** Texts by path: files that are there before anything else is. Their directories are made. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Ends that the agent keeps by itself, in milliseconds. */
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** The network that this client serves to programs of the box; see the protocol. */
  readonly network?: ServedNetwork | undefined;
  /** Detached agents: until `ready`, other clients are told that the box is still being set up; see the protocol. */
  readonly settingUp?: boolean | undefined;
  /** Detached agents: this client joins what another has made. */
  readonly joins?: boolean | undefined;
  /** How long the agent may take to answer at first, in milliseconds; default 30 s. */
  readonly startTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked of the backend for each `info`. */
  readonly info: () => Promise<Omit<SandboxInfo, "ref" | "shells" | "interpreters">>;
  /** Why the box may have been lost, as its backend tells; asked once the channel has ended, and not waited for long. */
  readonly explainLoss?: (() => Promise<string | undefined>) | undefined;
  /** What to do when the agent was lost; default: create a new one. */
  readonly lossAdvice?: string | undefined;
  /** Ends the box; the channel is closed by then. Throws only if the box may still exist. */
  readonly destroy: () => Promise<void>;
  readonly native?: unknown;
}

/**
 * The whole session of a box, over one byte stream to the guest agent in it. The agent is to be started by the
 * provider; `agentCommand` gives its command line.
 * @throws SandboxError `UNAVAILABLE` when no agent answers in time, `SANDBOX_LOST`, or `signal.reason`; the channel is
 * closed then
 */
export async function agentSession(channel: Channel, options: AgentSessionOptions): Promise<AgentSession> {
  const { ref, signal, network } = options;
  const connection = new AgentConnection(channel, {
    framing: options.framing ?? "binary",
    provider: ref.provider,
    sandboxId: ref.id,
    explainLoss: options.explainLoss,
    lossAdvice: options.lossAdvice,
    ...(network && { onConnection: (connection) => network.accept(connection) }),
  });
  const limit = AbortSignal.timeout(options.startTimeoutMs ?? startTimeoutMs);
  try {
    const greeting = greet(connection, options);
    const { ready, info } = await unlessAborted(greeting, signal ? AbortSignal.any([signal, limit]) : limit);
    return new AgentSession(connection, options, ready, info);
  } catch (error) {
    const late = limit.aborted && error === limit.reason;
    const failure = late ? unavailable(options) : error;
    const reason = failure instanceof SandboxError ? failure : unavailable(options, failure);
    await connection.close(reason);
    throw failure;
  }
}

function unavailable({ ref, ...options }: AgentSessionOptions, cause?: unknown): SandboxError {
  const waited = options.startTimeoutMs ?? startTimeoutMs;
  return new SandboxError("UNAVAILABLE", `the agent in sandbox ${ref.id} did not answer within ${waited} ms`, {
    provider: ref.provider,
    sandboxId: ref.id,
    operation: "create",
    cause,
  });
}

/** A session over the guest agent. */
export class AgentSession implements ProviderSession {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files: ProviderFiles;
  /** For files that are filled by another way than the agent's. */
  readonly stage: StageFile;
  readonly native: unknown;
  /** Settles when the agent is of no more use, by whatever reason; never rejects. */
  readonly closed: Promise<void>;
  /** What runs the agent: `python 3.11.2`. */
  readonly runtime: string;
  /** Whether another client still sets the box up. */
  readonly isBeingSetUp: boolean;
  readonly #connection: AgentConnection;
  readonly #options: AgentSessionOptions;
  readonly #client = randomUUID().slice(0, 8);
  readonly #doors: PortDoors;
  readonly #useListeners = new Set<() => void>();
  readonly #destruction = new Once<void>();

  /** For `agentSession` alone. */
  constructor(connection: AgentConnection, options: AgentSessionOptions, ready: AgentReady, info: AgentInfo) {
    this.ref = options.ref;
    this.workdir = ready.workdir;
    this.runtime = ready.runtime;
    this.isBeingSetUp = ready.settingUp ?? false;
    this.native = options.native;
    this.closed = connection.closed;
    this.capabilities = narrowed(options.capabilities, ready, info);
    const { watch, ...files } = agentFiles(connection, options.ref.provider);
    this.files = this.capabilities.features["files.watch"] ? { ...files, watch } : files;
    this.stage = agentStage(connection, options.ref.provider);
    this.#connection = connection;
    this.#options = options;
    this.#doors = new PortDoors(options.ref, {
      connect: (port) => agentConnect(connection, port, options.ref),
      onUse: () => {
        for (const listener of this.#useListeners) listener();
      },
    });
    connection.closed.then(() => {
      this.#doors.close();
      return options.network?.close?.();
    });
  }

  /** Why the agent is of no more use: `EXPIRED` when it has ended by its lifetime. Undefined while it is. */
  get failure(): SandboxError | undefined {
    return this.#connection.failure;
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    if (options.user !== undefined) requireFeature(this.#self, "exec.user", 'option "user"');
    if (options.pty !== undefined) requireFeature(this.#self, "exec.pty", 'option "pty"');
    return AgentProcess.start(this.#owner, command, options);
  }

  async kernel(options: KernelOptions): Promise<ProviderKernel> {
    const kernel = await this.#connection.whileBusy(
      startAgentKernel((command, where) => AgentProcess.start(this.#owner, command, { ...where, stdin: false }, true), {
        ...options,
        provider: this.ref.provider,
        sandboxId: this.ref.id,
      }),
    );
    return {
      id: kernel.id,
      execute: (code, run) => this.#connection.whileBusy(kernel.execute(code, run)),
      interrupt: () => kernel.interrupt(),
      kill: () => kernel.kill(),
    };
  }

  onContact(listener: (contact: Contact) => void): void {
    this.#options.network?.onContact?.(listener);
  }

  onUse(listener: () => void): void {
    this.#useListeners.add(listener);
  }

  /** A port of the box as one of this machine's loopback: see `PortDoor` for who is let in. */
  async port(port: number, options: { readonly waitMs?: number | undefined } = {}): Promise<PortInfo> {
    requireFeature(this.#self, "ports", "port");
    if (this.#connection.failure) throw this.#connection.failure;
    return this.#connection.whileBusy(this.#doors.open(port, options.waitMs));
  }

  async extend(ttlMs: number): Promise<void> {
    const { provider, id } = this.ref;
    const about = { operation: "extend", subject: `sandbox ${id}`, provider, sandboxId: id };
    await ask(this.#connection, { op: "extend", ttlMs }, about);
  }

  /** Tells other clients that the box is set up. */
  async ready(): Promise<void> {
    const { provider, id } = this.ref;
    await ask(
      this.#connection,
      { op: "ready" },
      { operation: "create", subject: `sandbox ${id}`, provider, sandboxId: id },
    );
  }

  /**
   * The agent in Python as its interpreter has compiled it, for `attachedAgent`. To be asked for before the first
   * program of the box starts.
   */
  async code(): Promise<Uint8Array> {
    const { provider, id } = this.ref;
    const about = { operation: "code", subject: `sandbox ${id}`, provider, sandboxId: id };
    return Buffer.from(checked("code", await ask(this.#connection, { op: "code" }, about)).code, "base64");
  }

  /** The agent is asked too: what it does not answer is not running. */
  async info(): Promise<SandboxInfo> {
    const [backend, box] = await Promise.all([this.#options.info(), this.look()]);
    const expiresAt = box?.expiresAt == null ? backend.expiresAt : new Date(box.expiresAt);
    return {
      ...backend,
      ref: this.ref,
      state: box ? backend.state : "gone",
      expiresAt,
      shells: box?.shells ?? [],
      interpreters: box?.interpreters ?? [],
    };
  }

  destroy(): Promise<void> {
    return this.#destruction.run(() => this.#destroy());
  }

  /** Tells the agent that the box is in use, by a way that does not lead through it. */
  touch(): void {
    if (!this.#connection.failure) this.#connection.touch();
  }

  /** Leaves the box to itself: a detached one lives on for a lease. What waits is told the reason. */
  async leave(reason = this.#ended("was left by this client: attach again")): Promise<void> {
    await this.#connection.close(reason);
  }

  async #destroy(): Promise<void> {
    await this.#connection.close(this.#ended("was destroyed: create a new one"));
    await this.#options.destroy();
  }

  /** What the box has, as its agent sees it now; undefined when that is lost. */
  async look(): Promise<AgentInfo | undefined> {
    try {
      return await askInfo(this.#connection, this.ref);
    } catch (error) {
      if (this.#connection.failure) return undefined;
      throw error;
    }
  }

  #ended(what: string): SandboxError {
    const details = { provider: this.ref.provider, sandboxId: this.ref.id };
    return new SandboxError("NOT_FOUND", `sandbox ${this.ref.id} ${what}`, details);
  }

  get #self() {
    return { name: this.ref.provider, capabilities: this.capabilities };
  }

  get #owner() {
    return { connection: this.#connection, provider: this.ref.provider, client: this.#client };
  }
}

const interpreterOf: Partial<Record<KernelLanguage, (info: AgentInfo) => boolean>> = {
  python: ({ interpreters }) => interpreters.includes("python3"),
  javascript: ({ interpreters }) => interpreters.includes("node"),
  bash: ({ shells }) => shells.includes("bash"),
};

/** What is declared for the provider, less what this box lacks. */
function narrowed(upper: Capabilities, ready: AgentReady, info: AgentInfo): Capabilities {
  const { features } = upper;
  const when = (holds: boolean, support: Support): Support => (holds ? support : false);
  const kernels = Object.entries(interpreterOf).map(([language, has]) => {
    const feature = `kernel.${language}` as "kernel.python";
    return [feature, when(has(info), features[feature])] as const;
  });
  const hasKernel = kernels.some(([, support]) => support);
  return capabilities({
    ...upper,
    features: {
      ...features,
      ...Object.fromEntries(kernels),
      "kernel.interrupt": when(hasKernel, features["kernel.interrupt"]),
      git: when(info.programs.includes("git"), features.git),
      "files.watch": when(ready.watch ?? false, features["files.watch"]),
      "exec.user": when(ready.user ?? false, features["exec.user"]),
      "exec.pty": when(ready.pty, features["exec.pty"]),
      "exec.killTree": features["exec.killTree"] === "native" ? ready.killTree : features["exec.killTree"],
    },
  });
}
