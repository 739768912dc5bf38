import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AttachOptions,
  type CreateOptions,
  fingerprintOf,
  type ListOptions,
  ownerLabel,
  PausedSession,
  type ProviderSession,
  type SandboxInfo,
  type SandboxRef,
  SessionRegistry,
  Slots,
} from "@sandkit/core";
import { bridgeStreams, firstCommand } from "./agent-program.js";
import { archivePlanOf } from "./archive-plan.js";
import { dockerCapabilities } from "./capabilities.js";
import { CompiledAgents } from "./compiled-agents.js";
import { requireRuntime } from "./create-container.js";
import {
  containerNameOf,
  type FoundSandbox,
  findNamed,
  findSandbox,
  hasDetached,
  refuseUnreachable,
} from "./detached.js";
import { DockerSession, type ForkSession } from "./docker-session.js";
import type { EngineClient, EngineConnector } from "./engine/client.js";
import { onEngine, providerName, refusal, statusOf } from "./errors.js";
import { freeze } from "./freeze.js";
import { type ImageFacts, ImageStore } from "./image-store.js";
import { idKey, recordOf, type SandboxRecord, userLabel, withLabels } from "./labels.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { packWorkspace } from "./pack-workspace.js";
import { PauseState } from "./pause-state.js";
import { lostSandbox } from "./plain/engine-exec.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { reapContainers } from "./reaper.js";
import { type Box, infoOf as boxInfo, type FirstWords, openSession, removalOf } from "./session.js";
import type { SnapshotRecord } from "./snapshot-labels.js";
import { findSnapshot, imageOfSnapshot, optionsFrom, requireBase, sweepSnapshots } from "./snapshots.js";
import { startSandbox } from "./start-sandbox.js";
import { unpackStream } from "./unpack-workspace.js";

type Create = CreateOptions<DockerNative>;

/** What the first client tells the agent, and the hash of the options that go with a name. */
interface Words extends FirstWords {
  readonly options?: string;
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
  readonly #attached = new SessionRegistry(providerName);
  readonly #slots = new Slots(createsAtOneTime);
  #swept = false;

  constructor(connector: EngineConnector, options: DockerOptions) {
    this.#connector = connector;
    this.#options = options;
    this.#images = new ImageStore(options.pull);
  }

  /** @param image Id of the image, where it is not that of the options. */
  async create(create: Create, image?: string): Promise<ProviderSession> {
    if (create.lifetime?.detached) return this.#createDetached(create, image);
    return this.#attached.create(create, ({ id }) =>
      this.#slots.run(create.signal, async () => {
        const engine = await this.#engine(create);
        if (create.name !== undefined && (await hasDetached(engine, create.name))) throw takenName(create.name);
        // Its lifetime is kept by the registry: the owner is there as long as the sandbox is.
        return this.#start(engine, create, id, {}, image);
      }),
    );
  }

  async attach(ref: SandboxRef, { signal }: AttachOptions = {}): Promise<ProviderSession | null> {
    const own = await this.#attached.attach(ref);
    if (own) return own;
    const engine = await this.#connector.connect();
    const found = await findSandbox(engine, ref.id);
    if (!found || found.state === "ending") return null;
    refuseUnreachable(found);
    return found.state === "paused" ? this.#resting(engine, found) : this.#join(engine, found, signal);
  }

  async *list(options: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    yield* this.#attached.list(options);
    const owner = await ownerLabel();
    for (const { record, state } of await this.#others(options)) {
      if (record.detached || record.owner !== owner) yield infoOf(record, state);
    }
  }

  /** The engine, at first with a look for what died owners left. */
  async #engine(create: Create): Promise<EngineClient> {
    const engine = await this.#connector.connect();
    if (!this.#swept) {
      this.#swept = true;
      Promise.all([reapContainers(engine, { olderThanMs: 0 }), sweepSnapshots(engine)]).catch((error: Error) =>
        create.onProgress?.(`what died owners left could not be removed: ${error.message}`),
      );
    }
    return engine;
  }

  async #createDetached(create: Create, image: string | undefined): Promise<ProviderSession> {
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
      const { ttlMs, idleMs } = create.lifetime ?? {};
      const words = { ttlMs, idleMs, leaseMs: this.#options.leaseMs ?? defaultLeaseMs, options };
      try {
        return await this.#slots.run(signal, () => this.#start(engine, create, randomUUID(), words, image));
      } catch (error) {
        // Somebody else was faster with this name: theirs is the one to get.
        if (name === undefined || statusOf(error instanceof Error ? error.cause : undefined) !== 409) throw error;
      }
    }
  }

  async #start(
    engine: EngineClient,
    create: Create,
    id: string,
    words: Words,
    imageId: string | undefined,
  ): Promise<ProviderSession> {
    const { onProgress, signal, labels = {}, name } = create;
    const snapshot = create.snapshot === undefined ? undefined : await findSnapshot(engine, create.snapshot);
    const plan = planSandbox(snapshot ? optionsFrom(create, snapshot, this.#options) : create, this.#options);
    await requireRuntime(engine, plan.runtime);
    const image = await this.#imageOf(engine, create, plan, imageId ?? snapshot);
    const detached = create.lifetime?.detached ?? false;
    const record: SandboxRecord = {
      id,
      owner: await ownerLabel(),
      createdAt: new Date(),
      name,
      template: snapshot && create.template === undefined ? snapshot.template : plan.templateName,
      workdir: plan.workspace.workdir,
      options: words.options,
      detached,
      ttlMs: create.lifetime?.ttlMs,
      egress: plan.egress,
      labels,
    };
    const first = await firstCommand(image, plan, detached, this.#agents.of(image.id));
    onProgress?.(`starting a container of ${image.reference}`);
    const container = containerNameOf(id, detached ? name : undefined);
    const order = { engine, name: container, plan, image, record, ...first };
    const capabilities = dockerCapabilities(this.#options, plan.runtime, image.first);
    const fork: ForkSession = (count, original) => this.#fork(engine, create, count, original);
    const { id: snapshotId } = snapshot ?? {};
    return startSandbox(order, { capabilities, words, signal, agents: this.#agents, fork, snapshot: snapshotId });
  }

  /** The image of a sandbox; of one from a snapshot, that of the snapshot, if it was made in what the options ask for. */
  async #imageOf(
    engine: EngineClient,
    { template, image, signal, onProgress }: Create,
    plan: SandboxPlan,
    from: SnapshotRecord | string | undefined,
  ): Promise<ImageFacts> {
    const asker = { signal, onProgress };
    if (typeof from === "string") return this.#images.prepare(engine, { name: from, image: from }, asker);
    if (!from) return this.#images.prepare(engine, plan.template, asker);
    if (template !== undefined || image !== undefined) {
      requireBase(from, await this.#images.prepare(engine, plan.template, asker));
    }
    const { repo, tag } = imageOfSnapshot(from.id);
    const own = `${repo}:${tag}`;
    return this.#images.prepare(engine, { name: own, image: own }, asker);
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
    const making = Array.from({ length: count }, () => this.create(options, inspected.Image));
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

  /** Another client of a detached sandbox. */
  async #join(engine: EngineClient, found: FoundSandbox, signal?: AbortSignal): Promise<ProviderSession> {
    const box = this.#boxOf(engine, found);
    if (found.state === "paused") await freeze(engine, found.container, false, found.record.id);
    for (;;) {
      const streams = await bridgeStreams(engine, found.container, found.record.id);
      const session = await openSession(box, streams, { joins: true }, signal);
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
    const wanted = Object.entries(options.labels ?? {}).map(([key, value]) => userLabel(key, value));
    const containers = await onEngine({ operation: "list", subject: "containers" }, () =>
      engine.dockerode.listContainers(withLabels([idKey, ...wanted])),
    );
    return containers.flatMap(({ Labels, State }) => {
      const record = recordOf(Labels);
      return record && (State === "running" || State === "paused") ? [{ record, state: State }] : [];
    });
  }
}

function infoOf(record: SandboxRecord, state: string): SandboxInfo {
  const { id, name, template, createdAt, labels } = record;
  return {
    ref: { provider: providerName, id },
    state: state === "paused" ? "paused" : "running",
    origin: "attached",
    name,
    template,
    createdAt,
    labels,
    // Known to who attaches: asking each box here would make a list as slow as its slowest.
    shells: [],
    interpreters: [],
  };
}

function takenName(name: string) {
  const next = "destroy it, or take another name";
  return refusal("CONFLICT", `sandbox "${name}" lives with another "lifetime.detached": ${next}`);
}
