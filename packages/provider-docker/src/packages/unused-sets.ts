import type { SandboxRef } from "@sandkit/core";
import type { ImageInspectInfo } from "dockerode";
import type { EngineClient } from "../engine/client.js";
import { messageOf, onEngine, providerName, statusOf } from "../errors.js";
import { type PackageSet, referenceOf, setKey } from "./package-set.js";

const dayMs = 24 * 60 * 60_000;
/** After this time without use a set is no longer kept, in milliseconds. */
const usuallyKeptMs = 30 * dayMs;

/** When an image was named last, which is noted at each use; of engines that do not keep that: when it was made. */
export function lastUse(image: ImageInspectInfo & { readonly Metadata?: { readonly LastTagTime?: string } }): Date {
  const tagged = new Date(String(image.Metadata?.LastTagTime));
  // Some give the year 1.
  return tagged.getTime() > 0 ? tagged : new Date(image.Created);
}

/** Notes that a set is used, once a day: naming an image again is what the engine keeps the time of. */
export function noteUse(
  engine: EngineClient,
  { reference }: PackageSet,
  usedAt: Date,
  onProgress?: (message: string) => void,
): void {
  if (Date.now() - usedAt.getTime() < dayMs) return;
  const [repo = "", tag = ""] = reference.split(":");
  // Without it the set is only kept for a shorter time.
  engine.dockerode
    .getImage(reference)
    .tag({ repo, tag })
    .catch((error: unknown) => onProgress?.(`that ${reference} is used could not be noted: ${messageOf(error)}`));
}

/** Removes the images of sets that nobody has used for 30 days, or `olderThanMs` where that is more, and tells which. */
export async function removeUnusedSets(
  engine: EngineClient,
  { olderThanMs, dryRun }: { readonly olderThanMs: number; readonly dryRun?: boolean | undefined },
  keptMs = usuallyKeptMs,
): Promise<SandboxRef[]> {
  const context = { operation: "reap", subject: "images of package sets" };
  const images = await onEngine(context, () =>
    engine.dockerode.listImages({ filters: JSON.stringify({ label: [setKey] }) }),
  );
  const removed: SandboxRef[] = [];
  for (const { Id: id, RepoTags: tags, Created: created, Labels: labels } of images) {
    // An image that somebody has made over a set's has its label, and another name.
    const name = tags?.find((tag) => tag.endsWith(referenceOf(labels[setKey] ?? "")));
    if (name === undefined) continue;
    if (Date.now() - created * 1000 < Math.max(keptMs, olderThanMs)) continue;
    const usedAt = lastUse(await onEngine(context, () => engine.dockerode.getImage(id).inspect()));
    if (Date.now() - usedAt.getTime() < Math.max(keptMs, olderThanMs)) continue;
    if (!dryRun && !(await removeImage(engine, name))) continue;
    removed.push({ provider: providerName, id: name });
  }
  return removed;
}

/** False for one that a container still has. */
async function removeImage(engine: EngineClient, name: string): Promise<boolean> {
  try {
    await engine.dockerode.getImage(name).remove({ force: false });
    return true;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) return true;
    if (status === 409) return false;
    return onEngine({ operation: "reap", subject: `image ${name}` }, () => Promise.reject(error));
  }
}
