import { SandboxError } from "@sandkit/core";
import type { ContainerOrder } from "./create-container.js";
import { engineError, providerName, statusOf, wordsOf } from "./errors.js";

const toolkit = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit";

/**
 * Why an engine has not made or not started a container: in the words of the option that asked for what it does not
 * have, else as what it answers to anything.
 */
export async function creationError(
  { engine, plan, sandboxId }: ContainerOrder,
  subject: string,
  reason: unknown,
): Promise<SandboxError> {
  const status = statusOf(reason);
  const details = { provider: providerName, operation: "create", sandboxId, cause: reason };
  const { cpus = 0, mounts, gpus } = plan;
  if (status === 400 && cpus > 0) {
    const { processors } = await engine.facts();
    if (cpus > processors) {
      const message = `option "cpus" (of "resources", or of docker()) is ${cpus}, and the engine at ${engine.place} has ${processors}: ask for at most ${processors}`;
      return new SandboxError("INVALID", message, details);
    }
  }
  if (status === undefined) return engineError(reason, { operation: "create", subject, sandboxId });
  const words = wordsOf(reason);
  // Which of several it is, only its words tell: they have our own path in them.
  const mount = mounts.find(({ Source }) => words.includes(Source));
  if (mount) {
    const message = `option "native.mounts" has source "${mount.Source}" for target "${mount.Target}", which the engine at ${engine.place} could not mount: it says: ${words}: make that folder on the engine's machine, or leave out the mount`;
    return new SandboxError("INVALID", message, details);
  }
  if (gpus !== undefined && status >= 500) {
    const message = `option "native.gpus" is ${JSON.stringify(gpus)}, and the engine at ${engine.place} started no container with that: it says: ${words}: install NVIDIA's driver and container toolkit on its machine (${toolkit}) and restart the engine, or leave out "native.gpus"`;
    return new SandboxError("UNAVAILABLE", message, { ...details, retryable: false });
  }
  return engineError(reason, { operation: "create", subject, sandboxId });
}
