import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type AttachOptions, type CreateOptions, type ListOptions, type ProviderSession, type SandboxInfo, type SandboxRef } from "@sandkit/core";
import { fingerprintOf, keepAlive, ownerLabel, PausedSession, SessionRegistry, Slots } from "@sandkit/core/kit";
import { bridgeStreams, firstCommand, withoutInterpreter } from "./agent-program.js";
import { archivePlanOf } from "./archive-plan.js";
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
import { DockerSession, type ForkSession } from "./docker-session.js";
import type { EngineClient } from "./engine/client.js";
import type { EngineConnector } from "./engine/connector.js";
import { demultiplex } from "./engine/demux.js";
import { requireEngine } from "./engine/require-engine.js";
import { onEngine, providerName, refusal, statusOf } from "./errors.js";
import { freeze } from "./freeze.js";
import { type Asker, type ImageFacts, ImageStore } from "./image-store.js";
import { labelsOf, ownerKey, recordOf, type SandboxRecord, withLabels } from "./labels.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { packWorkspace } from "./pack-workspace.js";
import { PackageSets } from "./packages/package-sets.js";
import { PauseState } from "./pause-state.js";
import { lostSandbox } from "./plain/engine-exec.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { reapDead } from "./reap-all.js";
import { type Box, infoOf as boxInfo, type FirstWords, openSession, removalOf } from "./session.js";
import type { SnapshotRecord } from "./snapshot-labels.js";
import { findSnapshot, imageOfSnapshot, optionsFrom, requireBase } from "./snapshots.js";
import { type ImageOf, SpareContainers } from "./spare-containers.js";
import { startSandbox } from "./start-sandbox.js";
import { unpackStream } from "./unpack-workspace.js";

type Create = CreateOptions<DockerNative>;

/** What the first client tells the agent, and the hash of the options that go with a name. */
interface Words extends FirstWords {
  readonly options?: string;
}

/** What a fork has of the sandbox that it is one of. */
interface Original {
  /** Id of the image. */
  readonly image: string;
  readonly template: string | undefined;
}

/** What a sandbox starts from. */
interface Start {
  readonly engine: EngineClient;
  readonly plan: SandboxPlan;
  readonly image: ImageFacts;
  readonly snapshot?: SnapshotRecord | undefined;
  /** The template that it is told to be of. */
  readonly template: string | undefined;
  /** Whether its image is not the one that the plan names. */
  readonly isOfImage: boolean;
}

/** More at one time take longer together: starting a container is work for the engine's processors. */
const createsAtOneTime = 8;
/** Between two looks whether a sandbox is set up. */
const lookAgainMs = 50;
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

  async create(create: Create, original?: Original): Promise<ProviderSession> {
    if (create.lifetime?.detached) return this.#createDetached(create, original);
    return this.#attached.create(create, async ({ id }) => {
      const engine = await this.#engine(create);
      if (create.name !== undefined && (await hasDetached(engine, create.name))) throw takenName(create.name);
      const start = await this.#prepare(engine, create, original);
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
    return found.state === "paused" ? this.#resting(engine, found) : this.#joinLiving(engine, found, signal);
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
      reapDead(engine).catch((error: Error) =>
        create.onProgress?.(`what died owners left could not be removed: ${error.message}`),
      );
    }
    return engine;
  }

  async #createDetached(create: Create, original: Original | undefined): Promise<ProviderSession> {
    const { name, signal } = create;
    const options = createHash("sha256").update(fingerprintOf(create)).digest("hex");
    const engine = await this.#engine(create);
    for (;;) {
      if (name !== undefined) {
        for await (const info of this.#attached.list()) if (info.name === name) throw takenName(name);
        const found = await findNamed(engine, name, options, signal);
        if (found) {
          refuseUnreachable(found);
          const joined = await this.#joinLiving(engine, found, signal);
          if (joined) return joined;
          // It has ended meanwhile: its name is free.
          continue;
        }
      }
      const start = await this.#prepare(engine, create, original);
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
  async #prepare(engine: EngineClient, create: Create, original: Original | undefined): Promise<Start> {
    const { template, image: named, onProgress, signal } = create;
    const snapshot = create.snapshot === undefined ? undefined : await findSnapshot(engine, create.snapshot);
    const plan = planSandbox(snapshot ? optionsFrom(create, snapshot, this.#options) : create, this.#options);
    await requireEngine(engine, plan.runtime);
    const asker = { signal, onProgress };
    const needsBase = snapshot && (template !== undefined || named !== undefined);
    if (needsBase) requireBase(snapshot, await this.#images.prepare(engine, plan.template, asker));
    const own = original?.image ?? (snapshot && imageNameOf(snapshot));
    const from = own === undefined ? plan : { ...plan, template: { name: own, image: own } };
    const told = original ?? (snapshot && template === undefined ? snapshot : { template: plan.templateName });
    // It may be on its way already, for the pool.
    return {
      engine,
      plan,
      snapshot,
      template: told.template,
      isOfImage: own !== undefined,
      image: await keepAlive(this.#imageOf(engine, from, asker)),
    };
  }

  async #imageOf(engine: EngineClient, plan: SandboxPlan, asker: Asker): Promise<ImageFacts> {
    const image = await this.#images.prepare(engine, plan.template, asker);
    const { python, node } = plan.packages;
    if (python.length + node.length === 0) return image;
    if (image.first === "shell") throw withoutInterpreter("packages", image);
    return this.#sets.prepare(engine, image, plan, asker);
  }

  async #start(start: Start, create: Create, id: string, words: Words): Promise<ProviderSession> {
    const { engine, plan, image, snapshot, template, isOfImage } = start;
    const { onProgress, signal, labels = {}, name } = create;
    const detached = create.lifetime?.detached ?? false;
    const record: SandboxRecord = {
      id,
      owner: await ownerLabel(),
      createdAt: new Date(),
      name,
      template,
      workdir: plan.workspace.workdir,
      options: words.options,
      detached,
      packages: image.packages,
      egress: plan.egress,
      ttlMs: create.lifetime?.ttlMs,
      labels,
    };
    const capabilities = dockerCapabilities(this.#options, plan.runtime, image.first);
    const fork: ForkSession = (count, original) => this.#fork(engine, create, count, original);
    const tenant = { record, capabilities, plan, words, fork, snapshot: snapshot?.id };
    // A detached one has another first program, and one of an image of its own no kind.
    const isUsual = !detached && !isOfImage;
    const spare = isUsual ? await this.#spares?.claim(engine, image, plan, tenant, signal) : undefined;
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

  /** The files go from box to box, through this program: nothing of it is left on the engine. */
  async #fork(
    engine: EngineClient,
    create: Create,
    count: number,
    original: ProviderSession,
  ): Promise<ProviderSession[]> {
    const found = await findSandbox(engine, original.ref.id);
    const inspected = found && (await engine.inspect(found.container));
    if (!inspected) throw lostSandbox(original.ref.id);
    // Its image has its packages, and may be another one than its name leads to by now.
    const { name, snapshot, packages, signal, onProgress, ...kept } = create;
    const options = { ...kept, workdir: original.workdir };
    const own = { image: inspected.Image, template: found.record.template };
    const making = Array.from({ length: count }, () => this.create(options, own));
    const outcomes = await Promise.allSettled(making);
    const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    try {
      await Promise.all(making);
      const plan = archivePlanOf(inspected);
      const { tar } = await packWorkspace(original, plan);
      await unpackStream(made, tar, plan);
      return made;
    } catch (error) {
      await Promise.allSettled(made.map((fork) => fork.destroy()));
      throw error;
    }
  }

  /** The same, of one that may end meanwhile: null when it has. */
  async #joinLiving(
    engine: EngineClient,
    found: FoundSandbox,
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession | null> {
    try {
      return await this.#join(engine, found, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const now = await findSandbox(engine, found.record.id);
      if (now && now.state !== "ending") throw error;
      return null;
    }
  }

  /** Another client of a detached sandbox. */
  async #join(engine: EngineClient, found: FoundSandbox, signal?: AbortSignal): Promise<ProviderSession> {
    const box = this.#boxOf(engine, found);
    if (found.state === "paused") await freeze(engine, found.container, false, found.record.id);
    for (;;) {
      const streams = await bridgeStreams(engine, found.container, found.record.id);
      const session = await openSession(box, demultiplex(streams), { joins: true }, signal);
      if (!session.isBeingSetUp) return new DockerSession(session, box);
      // Its maker ends it, if it leaves before it is done.
      await session.leave();
      await pause(lookAgainMs, undefined, { signal });
    }
  }

  /** A detached sandbox that was found paused, and stays so until somebody resumes it. */
  #resting(engine: EngineClient, found: FoundSandbox): ProviderSession {
    const box = this.#boxOf(engine, found);
    return new PausedSession({
      ref: { provider: providerName, id: found.record.id },
      workdir: found.record.workdir,
      capabilities: box.capabilities,
      native: { container: engine.container(found.container), dockerode: engine.dockerode },
      info: () => boxInfo(box),
      destroy: removalOf(box),
      wake: () => this.#join(engine, found),
    });
  }

  #boxOf(engine: EngineClient, { container, record, runtime }: FoundSandbox): Box {
    const capabilities = dockerCapabilities(this.#options, runtime);
    const standstill = new PauseState();
    return { engine, container, record, capabilities, origin: "attached", first: "python", standstill };
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

function imageNameOf({ id }: SnapshotRecord): string {
  const { repo, tag } = imageOfSnapshot(id);
  return `${repo}:${tag}`;
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
