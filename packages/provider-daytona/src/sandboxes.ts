import { randomUUID } from "node:crypto";
import type { Daytona, Sandbox } from "@daytonaio/sdk";
import {
  type AttachOptions,
  type CreateOptions,
  defaultLeaseMs,
  installPackages,
  type ListOptions,
  ownerLabel,
  PausedSession,
  type ProviderSession,
  type RemoteSessionOptions,
  remoteSession,
  SandboxError,
  type SandboxInfo,
  type SandboxRef,
} from "@sandkit/core";
import { type BoxParts, daytonaBox, factsOf } from "./box.js";
import { patiently } from "./call.js";
import type { DaytonaConnector } from "./client.js";
import { createParams } from "./create-params.js";
import { providerName, refusal } from "./errors.js";
import { contextOf, findSandbox, reaches } from "./find.js";
import { type DaytonaRecord, doneLabels, labelsOf, recordOf } from "./labels.js";
import { listSandboxes } from "./list.js";
import { minutesOf } from "./minutes.js";
import { joinNamed } from "./named.js";
import { obtainSandbox } from "./obtain.js";
import type { DaytonaNative, DaytonaOptions } from "./options.js";
import { resumeSandbox } from "./pause.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { removeSandbox } from "./removal.js";
import { isBroken, isComing, isEnded, isKept } from "./states.js";
import { Turns } from "./turns.js";

type Create = CreateOptions<DaytonaNative>;

const defaultCreateMs = 5 * 60_000;
const defaultPausedMs = 7 * 24 * 60 * 60_000;
const startWithinMs = 120_000;
/** Where Daytona's own snapshots begin; asked of the sandbox itself, except while it is stopped. */
const usualWorkdir = "/home/daytona";

/** The sandboxes of one key at Daytona. */
export class Sandboxes {
  readonly #connector: DaytonaConnector;
  readonly #leaseMs: number;
  readonly #options: DaytonaOptions;
  /** Creates of one name. */
  readonly #turns = new Turns();

  constructor(connector: DaytonaConnector, options: DaytonaOptions) {
    this.#connector = connector;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? defaultLeaseMs;
  }

  async create(create: Create): Promise<ProviderSession> {
    const plan = planSandbox(create, this.#options);
    const client = this.#connector.connect();
    const make = () => this.#create(client, create, plan);
    return create.name === undefined ? make() : this.#turns.run(create.name, make);
  }

  /** `null` only when Daytona says that there is none of that id. A stopped one stays stopped. */
  async attach(ref: SandboxRef, { signal }: AttachOptions = {}): Promise<ProviderSession | null> {
    const client = this.#connector.connect();
    const sandbox = await findSandbox(client, ref.id, "attach", signal);
    if (!sandbox || sandbox.id !== ref.id || isEnded(sandbox.state) || isBroken(sandbox.state)) return null;
    const record = recordOf(sandbox.labels);
    if (!record) {
      const message = `sandbox ${ref.id} was not made by Sandkit: use Daytona's own SDK for it`;
      throw refusal("UNSUPPORTED", message, "attach");
    }
    return this.#join(client, sandbox, record, "attach", signal);
  }

  async *list({ labels }: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    const client = this.#connector.connect();
    for await (const sandbox of listSandboxes(client, "list", labels)) {
      const record = recordOf(sandbox.labels);
      if (!record || isEnded(sandbox.state) || isBroken(sandbox.state)) continue;
      const ref = { provider: providerName, id: sandbox.id };
      // Known to who attaches: asking each box here would make a list as slow as its slowest.
      yield { ...factsOf(sandbox, record, sandbox.state), ref, origin: "attached", shells: [], interpreters: [] };
    }
  }

  async #create(client: Daytona, create: Create, plan: SandboxPlan): Promise<ProviderSession> {
    const { signal, onProgress, lifetime = {} } = create;
    const record = await recordFor(create, plan);
    const withinMs = create.createTimeoutMs ?? defaultCreateMs;
    // From the request on, and building an image may take as long as it may; then the lease counts.
    const lifeMs = withinMs + Math.min(this.#leaseMs, lifetime.ttlMs ?? Number.POSITIVE_INFINITY);
    const params = createParams(this.#connector.sdk, create, plan, record, lifeMs);
    onProgress?.(
      `starting a sandbox at Daytona from ${plan.start.image ?? plan.start.snapshot ?? "its default snapshot"}`,
    );
    for (;;) {
      const { sandbox, isOurs } = await obtainSandbox(client, { params, creation: record.creation, withinMs, signal });
      if (isOurs) return this.#open(client, sandbox, create, plan, record);
      const joined = await joinNamed(sandbox, plan.optionsDigest, params.name, { withinMs, signal });
      const session = joined && (await this.#join(client, sandbox, joined, "create", signal));
      if (session) return session;
    }
  }

  async #open(
    client: Daytona,
    sandbox: Sandbox,
    create: Create,
    plan: SandboxPlan,
    record: DaytonaRecord,
  ): Promise<ProviderSession> {
    const { signal, onProgress, env, lifetime: { ttlMs, idleMs, detached } = {} } = create;
    try {
      const parts = { ...this.#parts(client, sandbox, record, "created"), env };
      const words = { origin: "created", leaseMs: this.#leaseMs, ttlMs, idleMs, detached, signal } as const;
      const session = await openSession(parts, words);
      if (plan.packages.length > 0) await installPackages(session, plan.packages, { onProgress, signal });
      if (record.isPending) await this.#finish(sandbox, plan, signal);
      return session;
    } catch (error) {
      await removeSandbox(sandbox);
      throw error;
    }
  }

  /** The network of its life, and then it is there for all. */
  async #finish(sandbox: Sandbox, plan: SandboxPlan, signal: AbortSignal | undefined) {
    const context = contextOf(sandbox, "create");
    const none = { networkAllowList: "", domainAllowList: "" };
    if (plan.egressAtFirst !== plan.egress) {
      await patiently(context, () => sandbox.updateNetworkSettings({ ...none, ...plan.egress }), signal);
    }
    await patiently(context, () => sandbox.setLabels(doneLabels(sandbox.labels)), signal);
  }

  /** Another client of a sandbox. One that is stopped is resumed by whoever wants to create it, and else on demand. */
  async #join(
    client: Daytona,
    sandbox: Sandbox,
    record: DaytonaRecord,
    operation: "attach" | "create",
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession | null> {
    const parts = this.#parts(client, sandbox, record, "attached");
    if (isKept(sandbox.state)) {
      if (operation === "attach") return this.#asleep(parts);
      await resumeSandbox(sandbox, this.#leaseMs, signal);
      return this.#enter(parts, true, signal);
    }
    if (isComing(sandbox.state)) {
      await reaches(sandbox, ["started"], { operation, withinMs: startWithinMs, signal });
    }
    try {
      return await this.#enter(parts, false, signal);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      if (error.code !== "NOT_FOUND" && error.code !== "SANDBOX_LOST") throw error;
      // Its agent has ended, at the end of its lifetime: over for all, but only who wants its name takes it away.
      // Another program may be about to start the agent of what is merely found.
      if (error.code === "NOT_FOUND" && operation === "create") await removeSandbox(sandbox);
      return null;
    }
  }

  #asleep(parts: BoxParts): ProviderSession {
    const box = daytonaBox(parts);
    return new PausedSession({
      ref: box.ref,
      workdir: box.workdir ?? usualWorkdir,
      capabilities: box.capabilities,
      native: box.native,
      info: () => box.info(),
      destroy: () => box.destroy(),
      wake: async () => {
        await resumeSandbox(parts.sandbox, this.#leaseMs);
        return this.#enter(parts, true, undefined);
      },
    });
  }

  async #enter(parts: BoxParts, startAgent: boolean, signal: AbortSignal | undefined): Promise<ProviderSession> {
    const { detached } = parts.record;
    const words = { origin: "attached", leaseMs: this.#leaseMs, detached, startAgent, signal } as const;
    return openSession(parts, words);
  }

  #parts(client: Daytona, sandbox: Sandbox, record: DaytonaRecord, origin: SandboxInfo["origin"]): BoxParts {
    return {
      client,
      sandbox,
      record,
      origin,
      leaseMs: this.#leaseMs,
      pausedMs: this.#options.pausedMs ?? defaultPausedMs,
      adopt: (fork, own) => this.#adopt(client, fork, own),
    };
  }

  /** A copy has the labels of the original, and its time to live. */
  async #adopt(client: Daytona, fork: Sandbox, record: DaytonaRecord): Promise<ProviderSession> {
    const context = contextOf(fork, "fork");
    await patiently(context, () => fork.setLabels(labelsOf(record)));
    await patiently(context, () => fork.setTtl(minutesOf(this.#leaseMs)));
    return this.#enter(this.#parts(client, fork, record, "created"), true, undefined);
  }
}

async function openSession(parts: BoxParts, words: RemoteSessionOptions): Promise<ProviderSession> {
  const session = await remoteSession(daytonaBox(parts), words);
  parts.workdir = session.workdir;
  return session;
}

async function recordFor(create: Create, plan: SandboxPlan): Promise<DaytonaRecord> {
  return {
    owner: await ownerLabel(),
    creation: randomUUID(),
    createdAt: new Date(),
    name: create.name,
    template: plan.start.name,
    workdir: create.workdir,
    options: plan.optionsDigest,
    detached: create.lifetime?.detached ?? false,
    hasImage: plan.start.image !== undefined,
    isPending: plan.packages.length > 0 || create.name !== undefined,
    labels: create.labels ?? {},
  };
}
