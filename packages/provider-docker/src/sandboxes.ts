import { createHash, randomUUID } from "node:crypto";
import type {
  AttachOptions,
  CreateOptions,
  ListOptions,
  ProviderSession,
  SandboxInfo,
  SandboxRef,
} from "@sandkit/core";
import { fingerprintOf, ownerLabel, SessionRegistry, Slots } from "@sandkit/core/kit";
import { firstCommand } from "./agent-program.js";
import { dockerCapabilities } from "./capabilities.js";
import { CompiledAgents } from "./compiled-agents.js";
import { containerNameOf, findNamed, findSandbox, hasDetached, refuseUnreachable } from "./detached.js";
import type { EngineClient } from "./engine/client.js";
import type { EngineConnector } from "./engine/connector.js";
import { providerName, refusal, statusOf } from "./errors.js";
import { forkSandbox } from "./fork-sandbox.js";
import { joinLiving, joinPaused } from "./join-sandbox.js";
import { labelsOf } from "./labels.js";
import { listOthers } from "./list-others.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";
import { type Original, type Start, Starts } from "./prepare-start.js";
import { reapDead } from "./reap-all.js";
import type { FirstWords } from "./session.js";
import { SpareContainers } from "./spare-containers.js";
import { startSandbox, type Tenant } from "./start-sandbox.js";

type Create = CreateOptions<DockerNative>;

/** What the first client tells the agent, and the hash of the options that go with a name. */
interface Words extends FirstWords {
  readonly options?: string;
}

/** More at one time take longer together: starting a container is work for the engine's processors. */
const createsAtOneTime = 8;
const defaultLeaseMs = 5 * 60_000;

/** The sandboxes of one provider: those attached to this process, and the detached ones of the engine. */
export class Sandboxes {
  readonly #connector: EngineConnector;
  readonly #options: DockerOptions;
  readonly #agents = new CompiledAgents();
  readonly #starts: Starts;
  readonly #attached = new SessionRegistry(providerName);
  readonly #slots = new Slots(createsAtOneTime);
  readonly #spares: SpareContainers | undefined;
  #swept = false;

  constructor(connector: EngineConnector, options: DockerOptions) {
    this.#connector = connector;
    this.#options = options;
    const agents = this.#agents;
    const starts = new Starts(options, agents);
    this.#starts = starts;
    if (!options.pool) return;
    const parts = { connector, starts, agents, slots: this.#slots };
    this.#spares = new SpareContainers({ size: options.pool.size, ...parts }, planSandbox({}, options));
  }

  async create(create: Create, original?: Original): Promise<ProviderSession> {
    if (create.lifetime?.detached) return this.#createDetached(create, original);
    return this.#attached.create(create, async ({ id }) => {
      const starting = this.#prepare(create, original);
      starting.catch(() => undefined);
      const claimed = original ? undefined : await this.#claim(create, id, starting);
      // Its lifetime is kept by the registry: the owner is there as long as the sandbox is.
      return claimed ?? this.#start(await starting, create, id, {});
    });
  }

  async attach(ref: SandboxRef, { signal }: AttachOptions = {}): Promise<ProviderSession | null> {
    const own = await this.#attached.attach(ref);
    if (own) return own;
    const engine = await this.#connector.connect();
    const found = await findSandbox(engine, ref.id);
    if (!found || found.state === "ending") return null;
    refuseUnreachable(found);
    if (found.state === "paused") return joinPaused(engine, found, this.#options);
    return joinLiving(engine, found, this.#options, signal);
  }

  async *list(options: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    yield* this.#attached.list(options);
    yield* await listOthers(await this.#connector.connect(), options);
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

  async #prepare(create: Create, original: Original | undefined): Promise<Start> {
    const engine = await this.#engine(create);
    if (create.name !== undefined && (await hasDetached(engine, create.name))) throw takenName(create.name);
    return this.#starts.prepare(engine, create, original);
  }

  async #claim(create: Create, id: string, starting: Promise<Start>): Promise<ProviderSession | undefined> {
    // One of a snapshot has an image of its own, and that is no kind.
    if (!this.#spares || create.snapshot !== undefined) return undefined;
    const owner = await ownerLabel();
    const plan = planSandbox(create, this.#options);
    const tenantOf = (start: Pick<Start, "engine" | "image">) =>
      this.#tenant({ ...start, plan, template: plan.templateName }, create, id, owner, {});
    // Whether a name is free is known before anybody gets it.
    if (create.name !== undefined) await starting;
    return this.#spares.claim({ plan, tenantOf, signal: create.signal }, starting);
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
          const joined = await joinLiving(engine, found, this.#options, signal);
          if (joined) return joined;
          // It has ended meanwhile: its name is free.
          continue;
        }
      }
      const start = await this.#starts.prepare(engine, create, original);
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

  async #start(start: Start, create: Create, id: string, words: Words): Promise<ProviderSession> {
    const { engine, plan, image } = start;
    const { onProgress, signal, name } = create;
    const tenant = this.#tenant(start, create, id, await ownerLabel(), words);
    const { record } = tenant;
    const { detached } = record;
    return this.#slots.run(signal, async () => {
      const first = await firstCommand(image, plan, detached, this.#agents.of(image.origin));
      onProgress?.(`starting a container of ${image.reference}`);
      const container = containerNameOf(id, detached ? name : undefined);
      const labels = labelsOf(record);
      const order = { engine, name: container, plan, image, labels, detached, sandboxId: id, ...first };
      return startSandbox(order, tenant, signal, this.#agents);
    });
  }

  /** Who moves into the container that is started, or was. */
  #tenant(start: Start, create: Create, id: string, owner: string, { options, ...words }: Words): Tenant {
    const { engine, plan, image, template, snapshot } = start;
    return {
      record: {
        id,
        owner,
        createdAt: new Date(),
        name: create.name,
        template,
        workdir: plan.workspace.workdir,
        options,
        detached: create.lifetime?.detached ?? false,
        packages: image.packages,
        egress: plan.egress,
        ttlMs: create.lifetime?.ttlMs,
        labels: create.labels ?? {},
      },
      capabilities: dockerCapabilities(this.#options, plan.runtime, image.first),
      plan,
      words,
      snapshot: snapshot?.id,
      fork: (count, session) =>
        forkSandbox(engine, (like, original) => this.create(like, original), create, count, session),
    };
  }
}

function takenName(name: string) {
  const next = "destroy it, or take another name";
  return refusal("CONFLICT", `sandbox "${name}" lives with another "lifetime.detached": ${next}`);
}
