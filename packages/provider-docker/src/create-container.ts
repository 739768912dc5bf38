import { SandboxError } from "@sandkit/core";
import type { EngineClient, EngineFacts } from "./engine/client.js";
import { engineError, providerName, refusal, statusOf } from "./errors.js";
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
  readonly cpus: number;
}

/** Makes the container, which does not run yet. @returns its id */
export async function createContainer(order: ContainerOrder): Promise<string> {
  const { engine, name, plan, image, record } = order;
  const options = hardenedContainer({
    image: image.id,
    command: order.command,
    first: image.first,
    labels: labelsOf(record),
    user: plan.user,
    workspace: plan.workspace,
    cpus: order.cpus,
    pids: plan.pids,
    network: plan.network,
    runtime: plan.runtime,
    unsafeRoot: plan.unsafeRoot,
    attached: !record.detached,
    volumes: image.volumes,
  });
  try {
    return (await engine.dockerode.createContainer({ name, ...options })).id;
  } catch (error) {
    // Without an answer it may have been made all the same.
    if (statusOf(error) === undefined) await removeIfOurs(engine, name, record.id);
    throw engineError(error, {
      operation: "create",
      subject: `a container of ${image.reference}`,
      sandboxId: record.id,
    });
  }
}

async function removeIfOurs(engine: EngineClient, name: string, id: string): Promise<void> {
  const found = await engine.inspect(name);
  if (found && recordOf(found.Config.Labels)?.id === id) await removeContainer(engine, found.Id, id);
}

/** Refuses what this engine cannot do, before anything is made. @returns the processors that the sandbox gets */
export function fitToEngine(plan: SandboxPlan, facts: EngineFacts): number {
  if (facts.operatingSystem !== "linux") {
    throw refusal("UNSUPPORTED", `the engine runs ${facts.operatingSystem} containers: switch it to Linux containers`);
  }
  if (plan.runtime !== undefined && !facts.runtimes.includes(plan.runtime)) {
    const fix = plan.runtime.startsWith("runsc")
      ? 'install gVisor on its machine, then "sudo runsc install && sudo systemctl restart docker"'
      : `add it under "runtimes" in /etc/docker/daemon.json on its machine`;
    throw new SandboxError(
      "UNAVAILABLE",
      `the engine does not know runtime "${plan.runtime}" (it has ${facts.runtimes.join(", ")}): ${fix}`,
      { provider: providerName, operation: "create", retryable: false },
    );
  }
  if (plan.cpus !== undefined && plan.cpus > facts.processors) {
    throw refusal("INVALID", `resources.cpus ${plan.cpus}: the engine's machine has ${facts.processors}`);
  }
  return plan.cpus ?? Math.min(defaultCpus, facts.processors);
}
