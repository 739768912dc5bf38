import type { ListOptions, SandboxInfo } from "@sandkit/core";
import { ownerLabel } from "@sandkit/core/kit";
import type { EngineClient } from "./engine/client.js";
import { onEngine, providerName } from "./errors.js";
import { ownerKey, recordOf, type SandboxRecord, withLabels } from "./labels.js";

/** The sandboxes that an engine has with these labels, but for those that are attached to this program. */
export async function listOthers(engine: EngineClient, options: ListOptions): Promise<SandboxInfo[]> {
  const wanted = Object.entries(options.labels ?? {});
  const own = await ownerLabel();
  const containers = await onEngine({ operation: "list", subject: "containers" }, () =>
    engine.dockerode.listContainers(withLabels([ownerKey])),
  );
  return containers.flatMap(({ Labels, Names, State }) => {
    const record = recordOf(Labels, Names[0]);
    if (!record || (State !== "running" && State !== "paused")) return [];
    const isAttached = !record.detached && record.owner === own;
    const isWanted = wanted.every(([key, value]) => record.labels[key] === value);
    return isWanted && !isAttached ? [infoOf(record, State)] : [];
  });
}

function infoOf(record: SandboxRecord, state: "running" | "paused"): SandboxInfo {
  const { id, name, template, createdAt, labels, packages } = record;
  return {
    ref: { provider: providerName, id },
    state,
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
