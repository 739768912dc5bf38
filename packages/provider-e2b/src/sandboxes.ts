import { createHash } from "node:crypto";
import {
  type AttachOptions,
  type CreateOptions,
  fingerprintOf,
  type ListOptions,
  ownerLabel,
  type ProviderSession,
  type SandboxInfo,
  type SandboxRef,
} from "@sandkit/core";
import type { Sandbox } from "e2b";
import { describe, E2BBox, listed } from "./box.js";
import { e2bCapabilities } from "./capabilities.js";
import type { E2BClient, E2BConnector } from "./client.js";
import { createMachine, type Machine } from "./create-machine.js";
import { refusal } from "./errors.js";
import { labelMetadata, managedKey, recordOf, type SandboxRecord } from "./metadata.js";
import { findNamed, requireSameOptions } from "./named.js";
import { networkOf } from "./network.js";
import type { E2BNative, E2BOptions } from "./options.js";
import { installPackages } from "./packages.js";
import { PausedSession } from "./paused-session.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { openSession, type SessionWords } from "./session.js";

type Create = CreateOptions<E2BNative>;

const defaultLeaseMs = 5 * 60_000;
/** From the creation until the session is open, at least: then the lease counts. In milliseconds. */
const startMs = 60_000;
/** Of E2B's own templates. */
const usualUser = "user";
/** Where they begin; asked of the sandbox itself, except while it sleeps. */
const usualWorkdir = "/home/user";

/** The sandboxes of one account at E2B. */
export class Sandboxes {
  readonly #connector: E2BConnector;
  readonly #options: E2BOptions;
  /** Creates of one name, in the order in which they came. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(connector: E2BConnector, options: E2BOptions) {
    this.#connector = connector;
    this.#options = options;
  }

  async create(create: Create): Promise<ProviderSession> {
    const { name } = create;
    const client = this.#connector.connect("create");
    if (name === undefined) return this.#make(client, create);
    const before = this.#turns.get(name);
    const turn = Promise.resolve(before).then(
      () => this.#createNamed(client, create, name),
      () => this.#createNamed(client, create, name),
    );
    this.#turns.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
    }
  }

  /** `null` only when E2B says that there is none of that id. A paused one stays paused. */
  async attach(ref: SandboxRef, { signal }: AttachOptions = {}): Promise<ProviderSession | null> {
    const client = this.#connector.connect("attach");
    const info = await client.info(ref.id, "attach", { signal });
    if (!info) return null;
    const record = recordOf(info.metadata);
    if (!record) {
      throw refusal(
        "UNSUPPORTED",
        `sandbox ${ref.id} was not made by Sandkit: use E2B's own SDK for it`,
        "attach",
        ref.id,
      );
    }
    if (info.state === "paused") return this.#asleep(client, ref, record);
    return this.#join(client, info.sandboxId, record, "attach", signal);
  }

  async *list({ labels = {} }: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    const client = this.#connector.connect("list");
    for await (const found of client.list({ [managedKey]: "true", ...labelMetadata(labels) }, "list")) {
      const info = listed(found);
      if (info) yield info;
    }
  }

  get #leaseMs(): number {
    return this.#options.leaseMs ?? defaultLeaseMs;
  }

  async #createNamed(client: E2BClient, create: Create, name: string): Promise<ProviderSession> {
    const owner = await ownerLabel();
    for (;;) {
      create.signal?.throwIfAborted();
      const found = await findNamed(client, name, owner);
      if (!found) {
        const made = await this.#makeFirst(client, create, name, owner);
        if (made) return made;
        continue;
      }
      requireSameOptions(found, optionsHash(create));
      const session = await this.#join(client, found.info.sandboxId, found.record, "create", create.signal);
      if (session) return session;
    }
  }

  /** Undefined when somebody else was faster with this name. */
  async #makeFirst(
    client: E2BClient,
    create: Create,
    name: string,
    owner: string,
  ): Promise<ProviderSession | undefined> {
    return this.#make(client, create, async ({ sandbox }) => {
      const first = await findNamed(client, name, owner);
      return first === undefined || first.info.sandboxId === sandbox.sandboxId;
    });
  }

  async #make(client: E2BClient, create: Create): Promise<ProviderSession>;
  async #make(
    client: E2BClient,
    create: Create,
    isWanted: (machine: Machine) => Promise<boolean>,
  ): Promise<ProviderSession | undefined>;
  async #make(
    client: E2BClient,
    create: Create,
    isWanted: (machine: Machine) => Promise<boolean> = async () => true,
  ): Promise<ProviderSession | undefined> {
    const { signal, onProgress } = create;
    const plan = planSandbox(create, this.#options);
    onProgress?.(`starting a sandbox of template ${plan.image.template} at E2B`);
    const machine = await this.#start(client, create, plan);
    try {
      signal?.throwIfAborted();
      if (!(await isWanted(machine))) {
        await client.kill(machine.sandbox.sandboxId);
        return undefined;
      }
      const { ttlMs, idleMs } = create.lifetime ?? {};
      const box = this.#box(client, machine.sandbox, machine.record, "created", plan.env);
      const session = await this.#open(box, { ttlMs, idleMs, origin: "created", signal });
      if (plan.packages.length > 0) await installPackages(session, plan.packages, { signal, onProgress });
      if (plan.egress) await client.setNetwork(machine.sandbox.sandboxId, plan.egress);
      return session;
    } catch (error) {
      await client.kill(machine.sandbox.sandboxId, "create");
      throw error;
    }
  }

  async #start(client: E2BClient, create: Create, plan: SandboxPlan): Promise<Machine> {
    const { volumeMounts } = plan.native;
    const about: Omit<SandboxRecord, "mark"> = {
      owner: await ownerLabel(),
      createdAt: new Date(),
      name: create.name,
      template: plan.image.name,
      workdir: create.workdir,
      options: optionsHash(create),
      detached: create.lifetime?.detached ?? false,
      labels: create.labels ?? {},
    };
    const { allowInternetAccess } = plan.startEgress;
    const options = {
      timeoutMs: Math.max(this.#leaseMs, startMs),
      network: networkOf(plan.startEgress, this.#options.publicPorts ?? false),
      lifecycle: { onTimeout: "kill", autoResume: false } as const,
      ...(allowInternetAccess !== undefined && { allowInternetAccess }),
      ...(volumeMounts && { volumeMounts: { ...volumeMounts } }),
    };
    return createMachine(client, plan.image.template, options, about, create.signal);
  }

  /** Another client of a running sandbox; of a paused one, which this resumes. Null when it is gone. */
  async #join(
    client: E2BClient,
    sandboxId: string,
    record: SandboxRecord,
    operation: "attach" | "create",
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession | null> {
    const sandbox = await client.connect(sandboxId, this.#leaseMs, operation, signal);
    return this.#open(this.#box(client, sandbox, record, "attached"), { origin: "attached", signal });
  }

  #asleep(client: E2BClient, ref: SandboxRef, record: SandboxRecord): ProviderSession {
    return new PausedSession({
      ref,
      workdir: record.workdir ?? usualWorkdir,
      capabilities: e2bCapabilities,
      info: async () => ({ ...describe(record, await client.info(ref.id, "info")), origin: "attached" }),
      destroy: () => client.kill(ref.id),
      wake: async () => {
        const session = await this.#join(client, ref.id, record, "attach", undefined);
        if (session) return session;
        throw refusal("UNAVAILABLE", `sandbox ${ref.id} could not be resumed: it is gone`, "resume", ref.id);
      },
    });
  }

  /** Copies are sandboxes of their own; the original's name is not theirs. */
  async #openForks(client: E2BClient, forks: readonly Sandbox[], record: SandboxRecord): Promise<ProviderSession[]> {
    const own = { ...record, name: undefined, createdAt: new Date() };
    const opening = forks.map((fork) => this.#open(this.#box(client, fork, own, "created"), { origin: "attached" }));
    const results = await Promise.allSettled(opening);
    const sessions = results.filter((result) => result.status === "fulfilled").map(({ value }) => value);
    const failed = results.find((result) => result.status === "rejected");
    if (!failed) return sessions;
    await Promise.all(forks.map(({ sandboxId }) => client.kill(sandboxId, "fork")));
    throw failed.reason;
  }

  #box(
    client: E2BClient,
    sandbox: Sandbox,
    record: SandboxRecord,
    origin: SandboxInfo["origin"],
    env?: Readonly<Record<string, string>>,
  ): E2BBox {
    return new E2BBox({
      client,
      sandbox,
      record,
      origin,
      env,
      leaseMs: this.#leaseMs,
      user: this.#options.user ?? usualUser,
      address: { sandboxUrl: this.#options.sandboxUrl ?? process.env.E2B_SANDBOX_URL },
      openForks: (forks, of) => this.#openForks(client, forks, of),
    });
  }

  #open(box: E2BBox, words: Omit<SessionWords, "leaseMs">): Promise<ProviderSession> {
    return openSession(box, { ...words, leaseMs: this.#leaseMs });
  }
}

function optionsHash(create: Create): string {
  return createHash("sha256").update(fingerprintOf(create)).digest("hex");
}
