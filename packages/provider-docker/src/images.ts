import type { ImageInspectInfo } from "dockerode";
import type { EngineClient } from "./engine/client.js";
import { engineError, statusOf } from "./errors.js";

/** An image of the engine by its id or name; undefined when there is none. */
export async function inspectImage(
  engine: EngineClient,
  image: string,
  operation = "create",
): Promise<ImageInspectInfo | undefined> {
  try {
    return await engine.dockerode.getImage(image).inspect();
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw engineError(error, { operation, subject: `image ${image}` });
  }
}

/** Removes an image, or its name. False for one that is needed: a container still has it. One that is gone is fine. */
export async function removeImage(engine: EngineClient, image: string): Promise<boolean> {
  try {
    await engine.dockerode.getImage(image).remove();
    return true;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) return true;
    if (status === 409) return false;
    throw engineError(error, { operation: "reap", subject: `image ${image}` });
  }
}

/**
 * Whether an image was made over another one, by the id of that. Anybody can write into the labels of an image that it
 * was; its layers do not lie.
 */
export async function isOver(
  engine: EngineClient,
  image: ImageInspectInfo | undefined,
  base: string,
  operation = "create",
): Promise<boolean> {
  if (!/^sha256:[0-9a-f]{64}$/.test(base)) return false;
  const layers = (await inspectImage(engine, base, operation))?.RootFS.Layers ?? [];
  return layers.length > 0 && layers.every((layer, index) => image?.RootFS.Layers?.[index] === layer);
}
