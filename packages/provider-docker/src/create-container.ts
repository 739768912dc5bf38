import { SandboxError } from "@sandkit/core";
import type { EngineClient } from "./engine/client.js";
import { engineError, providerName, statusOf } from "./errors.js";
import { hardenedContainer } from "./hardening.js";
import type { ImageFacts } from "./image-store.js";
import { labelsOf, recordOf, type SandboxRecord } from "./labels.js";
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
  readonly record: SandboxRecord;
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
  const { engine, name, plan, image, record } = order;
  try {
    return await make(order, plan.cpus ?? defaultCpus);
  } catch (error) {
    // Without an answer it may have been made all the same.
    if (statusOf(error) === undefined) await removeIfOurs(engine, name, record.id);
    const fewer = statusOf(error) === 400 && plan.cpus === undefined ? (await engine.facts()).processors : defaultCpus;
    // Asking an engine for its processors takes longer than making a container: only a small machine pays for it.
    if (fewer < defaultCpus) return make(order, fewer);
    throw engineError(error, {
      operation: "create",
      subject: `a container of ${image.reference}`,
      sandboxId: record.id,
    });
  }
}

async function make({ engine, name, plan, image, record, command }: ContainerOrder, cpus: number) {
  const options = hardenedContainer({
    image: image.id,
    command,
    first: image.first,
    labels: labelsOf(record),
    user: plan.user,
    workspace: plan.workspace,
    cpus,
    pids: plan.pids,
    network: plan.network,
    runtime: plan.runtime,
    unsafeRoot: plan.unsafeRoot,
    attached: !record.detached,
    volumes: image.volumes,
    mounts: plan.mounts,
    gpus: plan.gpus,
  });
  const { id } = await engine.dockerode.createContainer({ name, ...options });
  return { id, cpus };
}

async function removeIfOurs(engine: EngineClient, name: string, id: string): Promise<void> {
  const found = await engine.inspect(name);
  if (found && recordOf(found.Config.Labels)?.id === id) await removeContainer(engine, found.Id, id);
}

/**
 * Refuses a runtime that the engine does not have, before anything is made.
 * @throws SandboxError `UNAVAILABLE` with what to install
 */
export async function requireRuntime(engine: EngineClient, runtime: string | undefined): Promise<void> {
  if (runtime === undefined) return;
  const { runtimes } = await engine.facts();
  if (runtimes.includes(runtime)) return;
  const fix = runtime.startsWith("runsc")
    ? 'install gVisor on its machine, then "sudo runsc install && sudo systemctl restart docker"'
    : 'add it under "runtimes" in /etc/docker/daemon.json on its machine';
  throw new SandboxError(
    "UNAVAILABLE",
    `the engine does not know runtime "${runtime}" (it has ${runtimes.join(", ")}): ${fix}`,
    { provider: providerName, operation: "create", retryable: false },
  );
}
