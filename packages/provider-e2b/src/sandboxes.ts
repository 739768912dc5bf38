import { setTimeout as pause } from "node:timers/promises";
import {
  type AttachOptions,
  type CreateOptions,
  decodeRecord,
  defaultLeaseMs,
  installPackages,
  type ListOptions,
  labelValues,
  optionsDigest,
  ownerLabel,
  PausedSession,
  type ProviderSession,
  SandboxError,
  type SandboxInfo,
  type SandboxRecord,
  type SandboxRef,
  settleName,
} from "@sandkit/core";
import type { Sandbox } from "e2b";
import { describe, E2BBox, listed } from "./box.js";
import { e2bCapabilities } from "./capabilities.js";
import type { E2BClient, E2BConnector } from "./client.js";
import { createMachine } from "./create-machine.js";
import { isMissing, refusal } from "./errors.js";
import { managed } from "./marks.js";
import { findNamed, requireSameOptions } from "./named.js";
import { networkOf } from "./network.js";
import type { E2BNative, E2BOptions } from "./options.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { openSession, type SessionWords } from "./session.js";

type Create = CreateOptions<E2BNative>;
type Env = Readonly<Record<string, string>> | undefined;
/** Whether a machine that was just made is the one to go on with. */
type Settle = (machine: Sandbox) => Promise<boolean>;

/** From the creation until the session is open, at least: then the lease counts. In milliseconds. */
const startMs = 60_000;
const lookAgainMs = 200;
/** Of E2B's own templates. */
const usualUser = "user";
/** Where they begin; asked of the sandbox itself, except while it sleeps. */
const usualWorkdir = "/home/user";

/** The sandboxes of one account at E2B. */
export class Sandboxes {
  readonly #connector: E2BConnector;
  readonly #options: E2BOptions;
  /** The last create of each name: those of one name go one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(connector: E2BConnector, options: E2BOptions) {
    this.#connector = connector;
    this.#options = options;
  }

  async create(create: Create): Promise<ProviderSession> {
    const client = this.#connector.connect("create");
    const { name } = create;
    if (name === undefined) return this.#make(client, create, async () => true);
    const before = this.#turns.get(name);
    const turn = Promise.allSettled([before]).then(() => this.#createNamed(client, create, name));
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
    const record = decodeRecord(info.metadata);
    if (!record) {
      const next = "use E2B's own SDK for it";
      throw refusal("UNSUPPORTED", `sandbox ${ref.id} was not made by Sandkit: ${next}`, "attach", ref.id);
    }
    if (info.state === "paused") return this.#asleep(client, ref, record);
    return this.#join(client, info.sandboxId, record, "attach", signal);
  }

  async *list({ labels = {} }: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    const client = this.#connector.connect("list");
    for await (const found of client.list({ ...managed, ...labelValues(labels) }, "list")) {
      const info = listed(found);
      if (info) yield info;
    }
  }

  get #leaseMs(): number {
    return this.#options.leaseMs ?? defaultLeaseMs;
  }

  async #createNamed(client: E2BClient, create: Create, name: string): Promise<ProviderSession> {
    const { signal } = create;
    const find = async () => findNamed(client, name, await ownerLabel());
    const discard = ({ id }: { readonly id: string }) => client.kill(id, "create");
    const settle: Settle = async ({ sandboxId }) => {
      const mine = { id: sandboxId, createdAt: new Date() };
      const settled = await settleName<{ readonly id: string; readonly createdAt: Date }>({
        name,
        mine,
        find,
        discard,
        signal,
      });
      return settled.id === sandboxId;
    };
    for (;;) {
      signal?.throwIfAborted();
      const [found] = await find();
      if (found) requireSameOptions(found, optionsDigest(create));
      const session = found
        ? await this.#join(client, found.id, found.record, "create", signal)
        : await this.#make(client, create, settle);
      if (session) return session;
      // It is about to go, or about to come: somebody else makes it just now.
      await pause(lookAgainMs, undefined, { signal });
    }
  }

  async #make(client: E2BClient, create: Create, settle: () => Promise<true>): Promise<ProviderSession>;
  async #make(client: E2BClient, create: Create, settle: Settle): Promise<ProviderSession | undefined>;
  async #make(client: E2BClient, create: Create, settle: Settle): Promise<ProviderSession | undefined> {
    const { signal, onProgress, lifetime = {} } = create;
    const plan = planSandbox(create, this.#options);
    const record = await recordFor(create, plan);
    onProgress?.(`starting a sandbox of template ${plan.image.template} at E2B`);
    const machine = await createMachine(client, plan.image.template, this.#startOptions(plan), record, signal);
    try {
      signal?.throwIfAborted();
      if (!(await settle(machine))) return undefined;
      const box = this.#box(client, machine, record, "created", plan.env);
      const { ttlMs, idleMs } = lifetime;
      const session = await this.#open(box, { ttlMs, idleMs, origin: "created", signal });
      // E2B's end for it is that of its start until now.
      if (ttlMs !== undefined && ttlMs < this.#startTtlMs) await box.extend(ttlMs);
      if (plan.packages.length > 0) await installPackages(session, plan.packages, { signal, onProgress });
      if (plan.egress) await client.setNetwork(machine.sandboxId, plan.egress);
      return session;
    } catch (error) {
      await client.kill(machine.sandboxId, "create");
      throw error;
    }
  }

  get #startTtlMs(): number {
    return Math.max(this.#leaseMs, startMs);
  }

  #startOptions({ startEgress, native: { volumeMounts } }: SandboxPlan) {
    const { allowInternetAccess } = startEgress;
    return {
      timeoutMs: this.#startTtlMs,
      network: networkOf(startEgress, this.#options.publicPorts ?? false),
      lifecycle: { onTimeout: "kill", autoResume: false } as const,
      ...(allowInternetAccess !== undefined && { allowInternetAccess }),
      ...(volumeMounts && { volumeMounts: { ...volumeMounts } }),
    };
  }

  /** Another client of a running sandbox; of a paused one, which this resumes. Null when it is gone. */
  async #join(
    client: E2BClient,
    sandboxId: string,
    record: SandboxRecord,
    operation: "attach" | "create",
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession | null> {
    try {
      const sandbox = await client.connect(sandboxId, this.#leaseMs, operation, signal);
      const box = this.#box(client, sandbox, record, "attached");
      return await this.#open(box, { origin: "attached", startAgent: false, signal });
    } catch (error) {
      if (error instanceof SandboxError && isMissing(error)) return null;
      throw error;
    }
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
  async #openForks(
    client: E2BClient,
    forks: readonly Sandbox[],
    record: SandboxRecord,
    env: Env,
  ): Promise<ProviderSession[]> {
    const own = { ...record, name: undefined, createdAt: new Date() };
    const opening = forks.map((fork) =>
      this.#open(this.#box(client, fork, own, "created", env), { origin: "created" }),
    );
    const results = await Promise.allSettled(opening);
    const sessions = results.filter((result) => result.status === "fulfilled").map(({ value }) => value);
    const failed = results.find((result) => result.status === "rejected");
    if (!failed) return sessions;
    await Promise.all(forks.map(({ sandboxId }) => client.kill(sandboxId, "fork")));
    throw failed.reason;
  }

  #box(client: E2BClient, sandbox: Sandbox, record: SandboxRecord, origin: SandboxInfo["origin"], env?: Env): E2BBox {
    return new E2BBox({
      client,
      sandbox,
      record,
      origin,
      env,
      leaseMs: this.#leaseMs,
      user: this.#options.user ?? usualUser,
      address: { sandboxUrl: this.#options.sandboxUrl ?? process.env.E2B_SANDBOX_URL },
      openForks: (forks) => this.#openForks(client, forks, record, env),
    });
  }

  #open(box: E2BBox, words: Omit<SessionWords, "leaseMs">): Promise<ProviderSession> {
    return openSession(box, { ...words, leaseMs: this.#leaseMs });
  }
}

async function recordFor(create: Create, plan: SandboxPlan): Promise<SandboxRecord> {
  return {
    owner: await ownerLabel(),
    createdAt: new Date(),
    name: create.name,
    template: plan.image.name,
    workdir: create.workdir,
    options: optionsDigest(create),
    detached: create.lifetime?.detached ?? false,
    labels: create.labels ?? {},
  };
}
