import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { ProviderSession, SnapshotInfo } from "@sandkit/core";
import { ownerLabel } from "@sandkit/core/kit";
import type { ContainerInspectInfo } from "dockerode";
import { createTarPacker } from "modern-tar";
import { addTarFile } from "./add-tar-file.js";
import type { EngineClient } from "./engine/client.js";
import { onEngine } from "./errors.js";
import type { FirstProgram } from "./hardening.js";
import { agentLabel } from "./image-store.js";
import { inspectImage, isOver } from "./images.js";
import { createdKey, ownerKey, type SandboxRecord } from "./labels.js";
import { type ArchivePlan, packWorkspace } from "./pack-workspace.js";
import { removeContainer } from "./removal.js";
import { snapshotBytesKey, snapshotLabels, snapshotOf } from "./snapshot-labels.js";
import { imageOfSnapshot, partsOf } from "./snapshots.js";

/** The archive lies in the image in pieces of this size, so that nobody has to know its size before. */
const partBytes = 4 * 1024 * 1024;

/** What is saved, and of what. */
export interface SnapshotOrder {
  readonly engine: EngineClient;
  readonly session: ProviderSession;
  readonly record: SandboxRecord;
  readonly inspected: ContainerInspectInfo;
  readonly plan: ArchivePlan;
  /** What its container starts with. */
  readonly first: FirstProgram;
  readonly name: string | undefined;
}

/**
 * Saves what was written in a sandbox as an image: that of the sandbox, with the archive as one layer more. Memory that
 * the container has cannot be committed, so that the archive goes through this program. Failed, it leaves nothing.
 */
export async function takeSnapshot(order: SnapshotOrder): Promise<SnapshotInfo> {
  const { engine, session, record, inspected, plan, first, name } = order;
  const { tar, skipped } = await packWorkspace(session, plan);
  const snapshot = {
    id: randomUUID(),
    name,
    createdAt: new Date(),
    base: await baseOf(engine, inspected.Image),
    template: record.template,
    workdir: record.workdir,
    withRoot: plan.rootSince !== undefined,
  };
  const carrier = `sandkit-snapshot-${snapshot.id}`;
  const context = { operation: "snapshot", subject: `sandbox ${record.id}`, sandboxId: record.id };
  const labels = {
    ...snapshotLabels(snapshot),
    [agentLabel]: first,
    // Until it is removed, which is what a sweep does if this program dies before.
    [ownerKey]: await ownerLabel(),
    [createdKey]: String(Date.now()),
  };
  const options = { name: carrier, Entrypoint: ["/"], Cmd: [], Labels: labels, HostConfig: { NetworkMode: "none" } };
  try {
    const made = await onEngine(context, () => engine.dockerode.createContainer({ ...options, Image: snapshot.base }));
    const container = engine.container(made.id);
    const parts = inParts(tar, partsOf(snapshot.id));
    await onEngine(context, () => container.putArchive(parts.tar, { path: "/" }));
    const sizeBytes = parts.bytes();
    await onEngine(context, () =>
      container.commit({
        ...imageOfSnapshot(snapshot.id),
        pause: false,
        changes: `LABEL ${snapshotBytesKey}=${sizeBytes}`,
      }),
    );
    const { id, createdAt } = snapshot;
    return { id, createdAt, sizeBytes, ...(name !== undefined && { name }), ...(skipped.length > 0 && { skipped }) };
  } catch (error) {
    await tar.cancel(error).catch(() => undefined);
    throw error;
  } finally {
    await removeContainer(engine, carrier, record.id);
  }
}

/** The image that a snapshot goes over: of a sandbox that was made from a snapshot the one below, not one layer on the other. */
async function baseOf(engine: EngineClient, id: string): Promise<string> {
  const own = await inspectImage(engine, id, "snapshot");
  const base = snapshotOf(own?.Config?.Labels)?.base;
  return base !== undefined && (await isOver(engine, own, base, "snapshot")) ? base : id;
}

/** An archive of the pieces of an archive: whatever a guest has packed, the engine unpacks plain files of ours. */
function inParts(inner: ReadableStream<Uint8Array>, directory: string) {
  let bytes = 0;
  let count = 0;
  const { readable, controller } = createTarPacker();
  const addFolder = (name: string) => controller.add({ name, type: "directory", mode: 0o755, size: 0 }).close();
  const addPart = async (part: Buffer) => {
    const name = `${directory.slice(1)}/${String(count).padStart(8, "0")}`;
    await addTarFile(controller.add, name, part, 0o444);
    count += 1;
  };
  const pack = async () => {
    const steps = directory.split("/").slice(1);
    for (let depth = 1; depth <= steps.length; depth++) await addFolder(`${steps.slice(0, depth).join("/")}/`);
    let waiting: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of inner) {
      waiting.push(chunk);
      size += chunk.length;
      bytes += chunk.length;
      if (size < partBytes) continue;
      await addPart(Buffer.concat(waiting));
      waiting = [];
      size = 0;
    }
    await addPart(Buffer.concat(waiting));
    controller.finalize();
  };
  pack().catch((error) => controller.error(error));
  return { tar: Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]), bytes: () => bytes };
}
