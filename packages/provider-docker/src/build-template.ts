import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { SandboxError } from "@sandkit/core";
import { packTar } from "modern-tar";
import type { EngineClient } from "./engine/client.js";
import { jsonLines } from "./engine/json-lines.js";
import { engineError, providerName } from "./errors.js";
import type { Template } from "./templates.js";

const keptLines = 20;

/** The name that the image of a template gets when it is built: another recipe gives another name. */
export function builtName(template: Template): string {
  const recipe = createHash("sha256").update(dockerfileOf(template)).digest("hex").slice(0, 12);
  return `sandkit/${template.name}:${recipe}`;
}

/** Builds the image of a template on the engine, over a public image that is there. */
export async function buildTemplate(
  engine: EngineClient,
  template: Template,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void },
): Promise<void> {
  onProgress(`building the image of template "${template.name}" (once on this engine)`);
  const body = Buffer.from(dockerfileOf(template));
  const tar = await packTar([{ header: { name: "Dockerfile", size: body.length }, body }]);
  const lines: string[] = [];
  try {
    const output = await engine.dockerode.buildImage(Readable.from([Buffer.from(tar)]), {
      t: builtName(template),
      labels: { "sandkit.template": template.name },
      forcerm: true,
      abortSignal: signal,
    });
    const stop = () => (output as Readable).destroy();
    signal.addEventListener("abort", stop, { once: true });
    for await (const event of jsonLines(output as Readable)) {
      if (typeof event.error === "string") throw new Error(event.error);
      if (typeof event.stream === "string") lines.push(event.stream.trimEnd());
      lines.splice(0, Math.max(0, lines.length - keptLines));
    }
    signal.removeEventListener("abort", stop);
  } catch (error) {
    signal.throwIfAborted();
    throw buildFailure(template, error, lines);
  }
}

function dockerfileOf({ image, build = [] }: Template): string {
  return [`FROM ${image}`, ...build, ""].join("\n");
}

function buildFailure(template: Template, error: unknown, lines: readonly string[]): SandboxError {
  const { message } = engineError(error, { operation: "create", subject: `template "${template.name}"` });
  const said = lines
    .filter((line) => line !== "")
    .slice(-5)
    .join(" | ");
  return new SandboxError(
    "UNAVAILABLE",
    `the image of template "${template.name}" could not be built from ${template.image}: ${message} (${said}): the engine needs the package index for it once; or give an image that you have ("images" of the options: { "${template.name}": "…" })`,
    { provider: providerName, operation: "create", retryable: false, cause: error },
  );
}
