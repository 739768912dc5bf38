import type { CreateOptions } from "@sandkit/core";
import { keepAlive } from "@sandkit/core/kit";
import { withoutInterpreter } from "./agent-program.js";
import type { CompiledAgents } from "./compiled-agents.js";
import type { EngineClient } from "./engine/client.js";
import { requireEngine } from "./engine/require-engine.js";
import { type Asker, type ImageFacts, ImageStore } from "./image-store.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { PackageSets } from "./packages/package-sets.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import type { SnapshotRecord } from "./snapshot-labels.js";
import { findSnapshot, imageOfSnapshot, optionsFrom, requireBase } from "./snapshots.js";

/** What a fork has of the sandbox that it is one of. */
export interface Original {
  /** Id of the image. */
  readonly image: string;
  readonly template: string | undefined;
}

/** What a sandbox starts from. */
export interface Start {
  readonly engine: EngineClient;
  readonly plan: SandboxPlan;
  readonly image: ImageFacts;
  readonly snapshot?: SnapshotRecord | undefined;
  /** The template that it is told to be of. */
  readonly template: string | undefined;
}

/** Brings onto engines what sandboxes start from. */
export class Starts {
  readonly #options: DockerOptions;
  readonly #images: ImageStore;
  readonly #sets: PackageSets;

  constructor(options: DockerOptions, agents: CompiledAgents) {
    this.#options = options;
    this.#images = new ImageStore(options.pull);
    this.#sets = new PackageSets(options, agents);
  }

  /** May take long: nobody else waits for it. */
  async prepare(
    engine: EngineClient,
    create: CreateOptions<DockerNative>,
    original: Original | undefined,
  ): Promise<Start> {
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
    const image = await keepAlive(this.imageOf(engine, from, asker));
    return { engine, plan, snapshot, template: told.template, image };
  }

  async imageOf(engine: EngineClient, plan: SandboxPlan, asker: Asker): Promise<ImageFacts> {
    const image = await this.#images.prepare(engine, plan.template, asker);
    const { python, node } = plan.packages;
    if (python.length + node.length === 0) return image;
    if (image.first === "shell") throw withoutInterpreter("packages", image);
    return this.#sets.prepare(engine, image, plan, asker);
  }
}

function imageNameOf({ id }: SnapshotRecord): string {
  const { repo, tag } = imageOfSnapshot(id);
  return `${repo}:${tag}`;
}
