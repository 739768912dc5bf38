import type { Readable } from "node:stream";
import { type ErrorCode, SandboxError } from "@sandkit/core";
import type { EngineClient } from "./engine/client.js";
import { jsonLines } from "./engine/json-lines.js";
import { engineError, providerName, wordsOf } from "./errors.js";
import { PullProgress } from "./pull-progress.js";

/**
 * Pulls an image; aborted, the engine gives the pull up. `onProgress` is told how far it is, four times a second at most.
 * @throws SandboxError `NOT_FOUND`, `AUTH`, `RATE_LIMITED`, `NO_SPACE`, `UNAVAILABLE`, with what to try; or `signal.reason`
 */
export async function pullImage(
  engine: EngineClient,
  image: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void },
): Promise<void> {
  signal.throwIfAborted();
  onProgress(`pulling ${image}`);
  const progress = new PullProgress(image, onProgress);
  let stream: Readable | undefined;
  const stop = () => stream?.destroy();
  signal.addEventListener("abort", stop);
  try {
    stream = (await engine.dockerode.pull(image, { abortSignal: signal })) as Readable;
    signal.throwIfAborted();
    for await (const event of jsonLines(stream)) {
      if (typeof event.error === "string") throw new Error(event.error);
      progress.take(event);
    }
    signal.throwIfAborted();
  } catch (error) {
    stop();
    signal.throwIfAborted();
    throw pullFailure(image, error);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface Reason {
  readonly words: RegExp;
  readonly code: ErrorCode;
  readonly what: string;
  readonly next: string;
}

/** An engine answers 404 or 500, or in the middle of its stream, and tells the kind of failure in words alone. */
const reasons: readonly Reason[] = [
  {
    words: /toomanyrequests|rate limit/i,
    code: "RATE_LIMITED",
    what: "the registry has had enough of pulls from here",
    next: "wait, or log in to it (docker login) and pull by hand",
  },
  {
    words: /manifest unknown|name unknown|manifest for .* not found|repository .* not found|invalid repository name/i,
    code: "NOT_FOUND",
    what: "the registry has no such image or tag",
    next: "check its name and tag",
  },
  {
    words: /no matching manifest|does not match the specified platform/i,
    code: "NOT_FOUND",
    what: "the registry has it for other processors only",
    next: "choose an image for the processor of the engine's machine",
  },
  {
    words: /pull access denied|repository does not exist/i,
    code: "NOT_FOUND",
    what: "the registry has no such image, or only for those who log in",
    next: "check its name",
  },
  {
    words: /unauthorized|authentication required|no basic auth|denied/i,
    code: "AUTH",
    what: "the registry wants a login",
    next: "log in on the engine's machine (docker login)",
  },
  {
    words: /no space left/i,
    code: "NO_SPACE",
    what: "the engine's disk is full",
    next: "make room (docker system prune)",
  },
  {
    words:
      /connection refused|no such host|timeout|timed out|unreachable|server misbehaving|connection reset|unexpected EOF|x509|tls:/i,
    code: "UNAVAILABLE",
    what: "the engine does not reach the registry",
    next: "check the network, proxy and certificates of the engine's machine",
  },
];

function pullFailure(image: string, error: unknown): SandboxError {
  const said = wordsOf(error);
  const reason = reasons.find(({ words }) => words.test(said));
  // Nobody answered at all: that is about the engine, and its message says so.
  const fromEngine = engineError(error, { operation: "create", subject: `image ${image}` });
  if (!reason || (error instanceof Error && "code" in error)) return fromEngine;
  const alternatives = `or pull it by hand (docker pull ${image}), or give an image that you have ("images" of the options: { "python": "…" })`;
  return new SandboxError(
    reason.code,
    `image "${image}" is not on the engine and could not be pulled: ${reason.what} (${said}): ${reason.next}, ${alternatives}`,
    { provider: providerName, operation: "create", cause: error },
  );
}
