import { type CreateOptions, SandboxError, type SnapshotInfo } from "@sandkit/core";
import { Sweep } from "@sandkit/core/kit";
import type { EngineClient } from "./engine/client.js";
import { engineError, onEngine, providerName, refusal, statusOf } from "./errors.js";
import type { ImageFacts } from "./image-store.js";
import { inspectImage, removeImage } from "./images.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { checkSnapshotId } from "./snapshot-id.js";
import { type SnapshotRecord, snapshotKey, snapshotOf } from "./snapshot-labels.js";

const repository = "sandkit-snapshot";
/** Longer than an image is without its name while it is made, in milliseconds. */
const unnamedMs = 15 * 60_000;

/** Name of the image of a snapshot. */
export function imageOfSnapshot(id: string) {
  return { repo: repository, tag: id } as const;
}

/** Where an image has the archive of its snapshot, in parts. */
export function partsOf(id: string): string {
  return `/.sandkit/snapshots/${id}`;
}

/**
 * The snapshot of an id.
 * @throws SandboxError `INVALID`, `NOT_FOUND`
 */
export async function findSnapshot(engine: EngineClient, id: string): Promise<SnapshotRecord> {
  checkSnapshotId(id, "create");
  const record = snapshotOf(await labelsOfImage(engine, id, "create"));
  if (record) return record;
  const message = `snapshot ${id} is not on the engine: it was removed, or is another engine's; take a new one`;
  throw new SandboxError("NOT_FOUND", message, { provider: providerName, operation: "create" });
}

/** The options of a create, with what its snapshot decides: the workdir. */
export function optionsFrom(
  create: CreateOptions<DockerNative>,
  snapshot: SnapshotRecord,
  options: DockerOptions,
): CreateOptions<DockerNative> {
  const { id, withRoot } = snapshot;
  const workdir = create.workdir ?? snapshot.workdir;
  if (workdir !== snapshot.workdir) {
    throw refusal("INVALID", `snapshot ${id} has its files in ${snapshot.workdir}: leave out workdir "${workdir}"`);
  }
  if (withRoot && !options.unsafeRoot) {
    throw refusal("INVALID", `snapshot ${id} was taken with docker({ unsafeRoot: true }): it needs that again`);
  }
  return { ...create, workdir };
}

/**
 * The image of a snapshot, for a sandbox whose options ask for this one.
 * @throws SandboxError `INVALID` when the snapshot was made in another
 */
export function requireBase(snapshot: SnapshotRecord, { id, reference }: ImageFacts): void {
  if (snapshot.base === id || snapshot.origin === id) return;
  const next = "leave out template and image, or give those of its sandbox";
  throw refusal("INVALID", `snapshot ${snapshot.id} was made in another image than ${reference}: ${next}`);
}

/** All of the engine, oldest first. */
export async function* listSnapshots(engine: EngineClient): AsyncGenerator<SnapshotInfo> {
  const images = await onEngine({ operation: "snapshots", subject: engine.place }, () =>
    engine.dockerode.listImages({ filters: JSON.stringify({ label: [snapshotKey], reference: [`${repository}:*`] }) }),
  );
  const records = images.flatMap(({ Labels }) => snapshotOf(Labels) ?? []);
  records.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  for (const { id, name, createdAt, sizeBytes } of records) yield { id, name, createdAt, sizeBytes };
}

/**
 * Removes the image of a snapshot; the engine keeps it for living sandboxes, unnamed. False when there was none.
 * @throws SandboxError `INVALID` for what is no id
 */
export async function removeSnapshot(engine: EngineClient, id: string): Promise<boolean> {
  const operation = "removeSnapshot";
  checkSnapshotId(id, operation);
  if (snapshotOf(await labelsOfImage(engine, id, operation)) === undefined) return false;
  try {
    await engine.removeImageName(`${repository}:${id}`);
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw engineError(error, { operation, subject: `snapshot ${id}` });
  }
  // What cannot be removed of others now is found by the next sweep, which tells of it.
  await sweepSnapshots(engine, new Sweep(providerName)).catch(() => undefined);
  return true;
}

/** Removes what is left of snapshots that were removed while sandboxes needed them; none of it is anybody's. */
export async function sweepSnapshots(engine: EngineClient, sweep: Sweep): Promise<void> {
  const left = await onEngine({ operation: "reap", subject: "snapshots" }, () =>
    engine.dockerode.listImages({ filters: JSON.stringify({ label: [snapshotKey], dangling: ["true"] }) }),
  );
  for (const { Id, Labels } of left) {
    const record = snapshotOf(Labels);
    // One that is just being made has no name yet.
    if (!record || Date.now() - record.createdAt.getTime() < unnamedMs) continue;
    await sweep.attempt(Id, () => removeImage(engine, Id));
  }
}

async function labelsOfImage(engine: EngineClient, id: string, operation: string) {
  return (await inspectImage(engine, `${repository}:${id}`, operation))?.Config?.Labels;
}
