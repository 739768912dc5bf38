import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type CreateOptions, SandboxError } from "@sandkit/core";
import { ownerState } from "@sandkit/core/kit";
import type { ContainerInspectInfo } from "dockerode";
import type { EngineClient } from "./engine/client.js";
import { onEngine, providerName, refusal } from "./errors.js";
import { detachedKey, nameKey, ownerKey, recordOf, type SandboxRecord, withLabels } from "./labels.js";
import { removeContainer } from "./removal.js";

const lookAgainMs = 50;

/** Name of the container of a detached sandbox: the engine itself sees to it that a name is there once. */
export function containerNameOf(id: string, name: string | undefined): string {
  if (name === undefined) return `sandkit-${id}`;
  return `sandkit-name-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

/** A container that was found, with the sandbox in it. */
export interface FoundSandbox {
  /** Id of the container. */
  readonly container: string;
  readonly record: SandboxRecord;
  readonly state: "created" | "running" | "paused" | "ending";
  readonly runtime?: string | undefined;
}

/** The container of a sandbox, by its id; undefined when it is gone. */
export async function findSandbox(engine: EngineClient, id: string): Promise<FoundSandbox | undefined> {
  const containers = await onEngine({ operation: "attach", subject: `sandbox ${id}`, sandboxId: id }, () =>
    engine.dockerode.listContainers(withLabels([ownerKey])),
  );
  const container = containers.find(({ Labels, Names }) => recordOf(Labels, Names[0])?.id === id)?.Id;
  return container === undefined ? undefined : foundIn(await engine.inspect(container));
}

/** Whether a detached sandbox has this name. */
export async function hasDetached(engine: EngineClient, name: string): Promise<boolean> {
  const containers = await onEngine({ operation: "create", subject: `sandbox "${name}"` }, () =>
    engine.dockerode.listContainers(withLabels([`${nameKey}=${name}`, detachedKey])),
  );
  return containers.some(({ Labels, State }) => {
    const record = recordOf(Labels);
    return record?.name === name && record.detached && (State === "running" || State === "paused");
  });
}

/**
 * The living detached sandbox of a name, if it was made with these options; undefined when the name is free, which
 * includes the time until somebody else takes it.
 * @throws SandboxError `CONFLICT` when it lives with other options
 */
export async function findNamed(
  engine: EngineClient,
  name: string,
  options: string,
  signal: CreateOptions["signal"],
): Promise<FoundSandbox | undefined> {
  const container = containerNameOf("", name);
  for (;;) {
    signal?.throwIfAborted();
    const found = foundIn(await engine.inspect(container));
    if (!found) return undefined;
    if (found.state === "running" || found.state === "paused") {
      if (found.record.options === options) return found;
      const next = "destroy it, or create with the same options or another name";
      throw new SandboxError("CONFLICT", `sandbox "${name}" lives with other options: ${next}`, {
        provider: providerName,
        operation: "create",
        sandboxId: found.record.id,
      });
    }
    const abandoned = found.state === "created" && (await ownerState(found.record.owner)) === "dead";
    if (abandoned || found.state === "ending") await removeContainer(engine, found.container, found.record.id);
    else await pause(lookAgainMs, undefined, { signal });
  }
}

/** Refuses a found sandbox that no second client can reach. */
export function refuseUnreachable({ record, state }: FoundSandbox): void {
  if (!record.detached) {
    const next = 'create it with "lifetime.detached" to share it';
    throw refusal(
      "UNSUPPORTED",
      `sandbox ${record.id} belongs to the program that made it (${record.owner}): ${next}`,
      "attach",
    );
  }
  if (state === "running" || state === "paused") return;
  throw new SandboxError("UNAVAILABLE", `sandbox ${record.id} is being started: try again in a moment`, {
    provider: providerName,
    operation: "attach",
    sandboxId: record.id,
  });
}

function foundIn(info: ContainerInspectInfo | undefined): FoundSandbox | undefined {
  const record = info && recordOf(info.Config.Labels, info.Name);
  if (!info || !record) return undefined;
  const { Status, Running, Paused } = info.State;
  const state = Paused ? "paused" : Running ? "running" : Status === "created" ? "created" : "ending";
  return { container: info.Id, record, state, runtime: info.HostConfig.Runtime };
}
