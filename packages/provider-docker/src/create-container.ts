import { creationError } from "./creation-error.js";
import type { EngineClient } from "./engine/client.js";
import { statusOf } from "./errors.js";
import { hardenedContainer } from "./hardening.js";
import type { ImageFacts } from "./image-store.js";
import type { SandboxPlan } from "./plan-sandbox.js";
import { removeContainer } from "./removal.js";

const defaultCpus = 2;

/** A container that is to be, and what is known of it before. */
export interface ContainerOrder {
  readonly engine: EngineClient;
  /** Name of the container. */
  readonly name: string;
  readonly plan: SandboxPlan;
  readonly image: ImageFacts;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it outlives its maker: otherwise the first program's stdin is the channel. */
  readonly detached: boolean;
  /** Absent while it is nobody's. */
  readonly sandboxId?: string | undefined;
  /** Argument list of the first program. */
  readonly command: readonly string[];
  /** What that reads first from its stdin. */
  readonly head?: Uint8Array;
}

/** A container that was made. */
export interface MadeContainer {
  readonly id: string;
  /** Processors that it may use. */
  readonly cpus: number;
}

/** Makes the container, which does not run yet. */
export async function createContainer(order: ContainerOrder): Promise<MadeContainer> {
  const { engine, plan, image } = order;
  try {
    return await make(order, plan.cpus ?? defaultCpus);
  } catch (error) {
    // Without an answer it may have been made all the same.
    if (statusOf(error) === undefined) await removeIfMade(order);
    const fewer = statusOf(error) === 400 && plan.cpus === undefined ? (await engine.facts()).processors : defaultCpus;
    // Asking an engine for its processors takes longer than making a container: only a small machine pays for it.
    if (fewer < defaultCpus) return make(order, fewer);
    throw await creationError(order, `a container of ${image.reference}`, error);
  }
}

async function make({ engine, name, plan, image, labels, detached, command }: ContainerOrder, cpus: number) {
  const options = hardenedContainer({
    image: image.id,
    command,
    first: image.first,
    labels,
    user: plan.user,
    workspace: plan.workspace,
    cpus,
    pids: plan.pids,
    network: plan.network,
    runtime: plan.runtime,
    unsafeRoot: plan.unsafeRoot,
    attached: !detached,
    volumes: image.volumes,
    mounts: plan.mounts,
    gpus: plan.gpus,
  });
  const { id } = await engine.create({ name, ...options });
  return { id, cpus };
}

/** One of this name with other labels is somebody else's. */
async function removeIfMade({ engine, name, labels, sandboxId }: ContainerOrder): Promise<void> {
  const found = await engine.inspect(name);
  if (!found || Object.entries(labels).some(([key, value]) => found.Config.Labels[key] !== value)) return;
  await removeContainer(engine, found.Id, sandboxId);
}
