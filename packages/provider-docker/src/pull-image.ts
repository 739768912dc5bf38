import type { Readable } from "node:stream";
import { SandboxError } from "@sandkit/core";
import type { EngineClient } from "./engine/client.js";
import { jsonLines } from "./engine/json-lines.js";
import { engineError, providerName } from "./errors.js";

/**
 * Pulls an image; aborted, the engine gives the pull up.
 * @throws SandboxError `NOT_FOUND` with what to try, `UNAVAILABLE`; or `signal.reason`
 */
export async function pullImage(
  engine: EngineClient,
  image: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void },
): Promise<void> {
  onProgress(`pulling ${image}`);
  let stream: Readable | undefined;
  const stop = () => stream?.destroy();
  signal.addEventListener("abort", stop);
  try {
    stream = (await engine.dockerode.pull(image, { abortSignal: signal })) as Readable;
    for await (const event of jsonLines(stream)) {
      if (typeof event.error === "string") throw new Error(event.error);
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw pullFailure(image, error);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function pullFailure(image: string, error: unknown): SandboxError {
  const failure = engineError(error, { operation: "create", subject: `image ${image}` });
  if (failure.code === "UNAVAILABLE" && failure.cause instanceof Error && "code" in failure.cause) return failure;
  return new SandboxError(
    "NOT_FOUND",
    `image "${image}" is not on the engine and could not be pulled (${failure.message}): check its name, run "docker pull ${image}", or map the template to an image that you have: docker({ images: { … } })`,
    { provider: providerName, operation: "create", cause: error },
  );
}
