import type { ReapOptions } from "@sandkit/core";
import type { Sweep } from "@sandkit/core/kit";
import type { ImageInspectInfo } from "dockerode";
import type { EngineClient } from "../engine/client.js";
import { messageOf, onEngine } from "../errors.js";
import { inspectImage, removeImage } from "../images.js";
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

/** Removes the images of sets that nobody has used for 30 days, or `olderThanMs` where that is more. */
export async function removeUnusedSets(
  engine: EngineClient,
  { olderThanMs }: Pick<ReapOptions, "olderThanMs">,
  sweep: Sweep,
  keptMs = usuallyKeptMs,
): Promise<void> {
  const context = { operation: "reap", subject: "images of package sets" };
  const images = await onEngine(context, () =>
    engine.dockerode.listImages({ filters: JSON.stringify({ label: [setKey] }) }),
  );
  const isKept = (usedAt: number) => Date.now() - usedAt < Math.max(keptMs, olderThanMs);
  for (const { Id: id, RepoTags: tags, Created: created, Labels: labels } of images) {
    // An image that somebody has made over a set's has its label, and another name.
    const name = tags?.find((tag) => tag.endsWith(referenceOf(labels[setKey] ?? "")));
    if (name === undefined || isKept(created * 1000)) continue;
    await sweep.attempt(name, async () => {
      const image = await inspectImage(engine, id, "reap");
      if (image && !isKept(lastUse(image).getTime())) await sweep.remove(name, () => removeImage(engine, name));
    });
  }
}
