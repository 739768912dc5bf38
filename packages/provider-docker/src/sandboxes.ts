import { createHash, randomUUID } from "node:crypto";
import {
  type AttachOptions,
  type CreateOptions,
  fingerprintOf,
  keepAlive,
  type ListOptions,
  ownerLabel,
  type ProviderSession,
  type SandboxInfo,
  type SandboxRef,
  SessionRegistry,
  Slots,
} from "@sandkit/core";
import { bridgeStreams, firstCommand } from "./agent-program.js";
import { dockerCapabilities } from "./capabilities.js";
import { CompiledAgents } from "./compiled-agents.js";
import {
  containerNameOf,
  type FoundSandbox,
  findNamed,
  findSandbox,
  hasDetached,
  refuseUnreachable,
} from "./detached.js";
import type { EngineClient } from "./engine/client.js";
import type { EngineConnector } from "./engine/connector.js";
import { demultiplex } from "./engine/demux.js";
import { requireEngine } from "./engine/require-engine.js";
import { onEngine, providerName, refusal, statusOf } from "./errors.js";
import { type Asker, type ImageFacts, ImageStore } from "./image-store.js";
import { labelsOf, ownerKey, recordOf, type SandboxRecord, withLabels } from "./labels.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { PackageSets } from "./packages/package-sets.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { reapContainers } from "./reaper.js";
import { type FirstWords, openSession } from "./session.js";
import { type ImageOf, SpareContainers } from "./spare-containers.js";
import { startSandbox } from "./start-sandbox.js";

type Create = CreateOptions<DockerNative>;

/** What the first client tells the agent, and the hash of the options that go with a name. */
interface Words extends FirstWords {
  readonly options?: string;
}

/** What a sandbox starts from. */
interface Start {
  readonly engine: EngineClient;
  readonly plan: SandboxPlan;
  readonly image: ImageFacts;
}

/** More at one time take longer together: starting a container is work for the engine's processors. */
const createsAtOneTime = 8;
const defaultLeaseMs = 5 * 60_000;

/** The sandboxes of one provider: those attached to this process, and the detached ones of the engine. */
export class Sandboxes {
  readonly #connector: EngineConnector;
  readonly #options: DockerOptions;
  readonly #images: ImageStore;
  readonly #agents = new CompiledAgents();
  readonly #sets: PackageSets;
  readonly #attached = new SessionRegistry(providerName);
  readonly #slots = new Slots(createsAtOneTime);
  readonly #spares: SpareContainers | undefined;
  #swept = false;

  constructor(connector: EngineConnector, options: DockerOptions) {
    this.#connector = connector;
    this.#options = options;
    this.#images = new ImageStore(options.pull);
    this.#sets = new PackageSets(options, this.#agents);
    if (!options.pool) return;
    const parts = { connector, agents: this.#agents, slots: this.#slots };
    const imageOf: ImageOf = (engine, plan, asker) => this.#imageOf(engine, plan, asker);
    this.#spares = new SpareContainers({ size: options.pool.size, imageOf, ...parts }, planSandbox({}, options));
  }

  async create(create: Create): Promise<ProviderSession> {
    if (create.lifetime?.detached) return this.#createDetached(create);
    return this.#attached.create(create, async ({ id }) => {
      const engine = await this.#engine(create);
      if (create.name !== undefined && (await hasDetached(engine, create.name))) throw takenName(create.name);
      const start = await this.#prepare(engine, create);
      // Its lifetime is kept by the registry: the owner is there as long as the sandbox is.
      return this.#start(start, create, id, {});
    });
  }

  async attach(ref: SandboxRef, { signal }: AttachOptions = {}): Promise<ProviderSession | null> {
    const own = await this.#attached.attach(ref);
    if (own) return own;
    const engine = await this.#connector.connect();
    const found = await findSandbox(engine, ref.id);
    if (!found || found.state === "ending") return null;
    refuseUnreachable(found);
    return this.#join(engine, found, signal);
  }

  async *list(options: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    yield* this.#attached.list(options);
    const owner = await ownerLabel();
    for (const { record, state } of await this.#others(options)) {
      if (record.detached || record.owner !== owner) yield infoOf(record, state);
    }
  }

  /** Removes the containers that nobody has claimed. */
  async close(): Promise<void> {
    await this.#spares?.close();
  }

  /** The engine, at first with a look for what died owners left. */
  async #engine(create: Create): Promise<EngineClient> {
    const engine = await this.#connector.connect();
    if (!this.#swept) {
      this.#swept = true;
      reapContainers(engine, { olderThanMs: 0 }).catch((error: Error) =>
        create.onProgress?.(`what died owners left could not be removed: ${error.message}`),
      );
    }
    return engine;
  }

  async #createDetached(create: Create): Promise<ProviderSession> {
    const { name, signal } = create;
    const options = createHash("sha256").update(fingerprintOf(create)).digest("hex");
    const engine = await this.#engine(create);
    for (;;) {
      if (name !== undefined) {
        for await (const info of this.#attached.list()) if (info.name === name) throw takenName(name);
        const found = await findNamed(engine, name, options, signal);
        if (found) {
          refuseUnreachable(found);
          return this.#join(engine, found, signal);
        }
      }
      const start = await this.#prepare(engine, create);
      const { ttlMs, idleMs } = create.lifetime ?? {};
      const words = { ttlMs, idleMs, leaseMs: this.#options.leaseMs ?? defaultLeaseMs, options };
      try {
        return await this.#start(start, create, randomUUID(), words);
      } catch (error) {
        // Somebody else was faster with this name: theirs is the one to get.
        if (name === undefined || statusOf(error instanceof Error ? error.cause : undefined) !== 409) throw error;
      }
    }
  }

  /** Brings onto the engine what a sandbox starts from, which may take long: nobody else waits for it. */
  async #prepare(engine: EngineClient, create: Create): Promise<Start> {
    const { onProgress, signal } = create;
    const plan = planSandbox(create, this.#options);
    await requireEngine(engine, plan.runtime);
    // It may be on its way already, for the pool.
    return { engine, plan, image: await keepAlive(this.#imageOf(engine, plan, { signal, onProgress })) };
  }

  async #imageOf(engine: EngineClient, plan: SandboxPlan, asker: Asker): Promise<ImageFacts> {
    const image = await this.#images.prepare(engine, plan.template, asker);
    const { python, node } = plan.packages;
    return python.length + node.length === 0 ? image : this.#sets.prepare(engine, image, plan, asker);
  }

  async #start({ engine, plan, image }: Start, create: Create, id: string, words: Words): Promise<ProviderSession> {
    const { onProgress, signal, labels = {}, name } = create;
    const detached = create.lifetime?.detached ?? false;
    const record: SandboxRecord = {
      id,
      owner: await ownerLabel(),
      createdAt: new Date(),
      name,
      template: plan.templateName,
      workdir: plan.workspace.workdir,
      options: words.options,
      detached,
      packages: image.packages,
      egress: plan.egress,
      labels,
    };
    const capabilities = dockerCapabilities(this.#options, plan.runtime, image.first);
    const tenant = { record, capabilities, plan, words };
    // A detached one has another first program.
    const spare = detached ? undefined : await this.#spares?.claim(engine, image, plan, tenant, signal);
    if (spare) return spare;
    return this.#slots.run(signal, async () => {
      const first = await firstCommand(image, plan, detached, this.#agents.of(image.origin));
      onProgress?.(`starting a container of ${image.reference}`);
      const container = containerNameOf(id, detached ? name : undefined);
      const order = {
        engine,
        name: container,
        plan,
        image,
        labels: labelsOf(record),
        detached,
        sandboxId: id,
        ...first,
      };
      return startSandbox(order, tenant, signal, this.#agents);
    });
  }

  /** Another client of a detached sandbox. */
  async #join(
    engine: EngineClient,
    { container, record, runtime }: FoundSandbox,
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession> {
    const capabilities = dockerCapabilities(this.#options, runtime);
    const streams = await bridgeStreams(engine, container, record.id);
    const box = { engine, container, record, capabilities, origin: "attached" } as const;
    return openSession(box, demultiplex(streams), {}, signal);
  }

  /** What the engine has with these labels, whoever made it. */
  async #others(options: ListOptions): Promise<{ readonly record: SandboxRecord; readonly state: string }[]> {
    const engine = await this.#connector.connect();
    const wanted = Object.entries(options.labels ?? {});
    const containers = await onEngine({ operation: "list", subject: "containers" }, () =>
      engine.dockerode.listContainers(withLabels([ownerKey])),
    );
    return containers.flatMap(({ Labels, Names, State }) => {
      const record = recordOf(Labels, Names[0]);
      const isWanted = record && wanted.every(([key, value]) => record.labels[key] === value);
      return isWanted && (State === "running" || State === "paused") ? [{ record, state: State }] : [];
    });
  }
}

function infoOf(record: SandboxRecord, state: string): SandboxInfo {
  const { id, name, template, createdAt, labels, packages } = record;
  return {
    ref: { provider: providerName, id },
    state: state === "paused" ? "paused" : "running",
    origin: "attached",
    name,
    template,
    createdAt,
    labels,
    packages,
    // Known to who attaches: asking each box here would make a list as slow as its slowest.
    shells: [],
    interpreters: [],
  };
}

function takenName(name: string) {
  const next = "destroy it, or take another name";
  return refusal("CONFLICT", `sandbox "${name}" lives with another "lifetime.detached": ${next}`);
}
