import type { ReapOptions } from "@sandkit/core";
import { ownerState, type Sweep } from "@sandkit/core/kit";
import type { EngineClient } from "./engine/client.js";
import { onEngine } from "./errors.js";
import { createdKey, ownerKey, recordOf, withLabels } from "./labels.js";
import { removeContainer } from "./removal.js";

/** Longer than any creation takes: one that has not started by then was given up, whoever began it. In ms. */
const unstartedMs = 15 * 60_000;
/** An exited container removes itself, unless its engine was stopped. In ms. */
const exitedMs = 60_000;
/** How old a paused one becomes that outlives its maker, at least: nothing tells when it was paused. In ms. */
const pausedMs = 7 * 24 * 3600_000;

interface Found {
  /** Id of the container. */
  readonly container: string;
  /** Of its sandbox, where it has one. */
  readonly id: string;
  readonly state: string;
  readonly owner: string;
  readonly ageMs: number;
  readonly detached: boolean;
  readonly ttlMs: number | undefined;
}

/** Removes what lost its owner, one after another; never what a living program holds. */
export async function reapContainers(
  engine: EngineClient,
  { olderThanMs }: Pick<ReapOptions, "olderThanMs">,
  sweep: Sweep,
): Promise<void> {
  for (const found of await ours(engine)) {
    if (found.ageMs < olderThanMs || !(await isOrphan(found))) continue;
    await sweep.remove(found.id, () => removeContainer(engine, found.container, found.id));
  }
}

async function ours(engine: EngineClient): Promise<Found[]> {
  const containers = await onEngine({ operation: "reap", subject: "containers" }, () =>
    engine.dockerode.listContainers(withLabels([ownerKey])),
  );
  return containers.map(({ Id, Names, Labels, State, Created }) => {
    const record = recordOf(Labels, Names[0]);
    return {
      container: Id,
      id: record?.id ?? Id,
      state: State,
      owner: Labels[ownerKey] ?? "",
      ageMs: Date.now() - (record?.createdAt.getTime() ?? Number(Labels[createdKey] ?? Created * 1000)),
      detached: record?.detached ?? false,
      ttlMs: record?.ttlMs,
    };
  });
}

async function isOrphan({ owner, state, ageMs, detached, ttlMs }: Found): Promise<boolean> {
  const maker = await ownerState(owner);
  if (maker === "alive") return false;
  if (state === "exited" || state === "dead") return maker === "dead" || ageMs > exitedMs;
  if (state === "created") return maker === "dead" || ageMs > unstartedMs;
  // Whoever made a detached one may well be dead: its agent ends it. A paused one's cannot.
  if (detached) return state === "paused" && ageMs > Math.max(pausedMs, ttlMs ?? 0);
  return maker === "dead";
}
