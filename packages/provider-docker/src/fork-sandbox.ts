import type { CreateOptions, ProviderSession } from "@sandkit/core";
import { archivePlanOf, unpackPlanOf } from "./archive-plan.js";
import { findSandbox } from "./detached.js";
import type { EngineClient } from "./engine/client.js";
import type { DockerNative } from "./options.js";
import { packWorkspace } from "./pack-workspace.js";
import { lostSandbox } from "./plain/engine-exec.js";
import type { Original } from "./prepare-start.js";
import { unpackStream } from "./unpack-workspace.js";

type Create = CreateOptions<DockerNative>;

/**
 * Sandboxes like one that lives, with its files. These go from box to box, through this program: nothing of it is left
 * on the engine.
 * @param make Makes one of them, without the files.
 * @param create What the living one was made with.
 */
export async function forkSandbox(
  engine: EngineClient,
  make: (create: Create, original: Original) => Promise<ProviderSession>,
  create: Create,
  count: number,
  session: ProviderSession,
): Promise<ProviderSession[]> {
  const found = await findSandbox(engine, session.ref.id);
  const inspected = found && (await engine.inspect(found.container));
  if (!inspected) throw lostSandbox(session.ref.id);
  // Its image has its packages, and may be another one than its name leads to by now.
  const { name, snapshot, packages, signal, onProgress, ...kept } = create;
  const options = { ...kept, workdir: session.workdir };
  const original = { image: inspected.Image, template: found.record.template };
  const making = Array.from({ length: count }, () => make(options, original));
  const outcomes = await Promise.allSettled(making);
  const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  try {
    await Promise.all(making);
    const { tar } = await packWorkspace(session, archivePlanOf(inspected));
    await unpackStream(made, tar, unpackPlanOf(inspected));
    return made;
  } catch (error) {
    await Promise.allSettled(made.map((fork) => fork.destroy()));
    throw error;
  }
}
