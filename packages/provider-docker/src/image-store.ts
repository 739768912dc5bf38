import { SandboxError } from "@sandkit/core";
import type { ImageInspectInfo } from "dockerode";
import { buildTemplate, builtName } from "./build-template.js";
import type { EngineClient } from "./engine/client.js";
import { providerName } from "./errors.js";
import type { FirstProgram } from "./hardening.js";
import { inspectImage, isOver } from "./images.js";
import { setIn } from "./packages/package-set.js";
import { withPrograms } from "./packages/places.js";
import { probeImage } from "./probe-image.js";
import { pullImage } from "./pull-image.js";
import { SharedWork } from "./shared-work.js";
import type { Template } from "./templates.js";

/** What is known of an image that is on the engine. */
export interface ImageFacts {
  /** Of its content; a container made by it cannot get another image. */
  readonly id: string;
  readonly reference: string;
  /** Id of the image whose interpreters it has: itself, or the one that packages were added to. */
  readonly origin: string;
  /** Packages that were added to it, each exactly. */
  readonly packages?: readonly string[] | undefined;
  /** Key of the set that they are. */
  readonly set?: string | undefined;
  /** As `NAME=value`. */
  readonly env: readonly string[];
  /** Directories that it declares as volumes. */
  readonly volumes: readonly string[];
  /** What it wants done whenever an image is built over it (`ONBUILD`). */
  readonly triggers: readonly string[];
  /** What a sandbox of it starts with. */
  readonly first: FirstProgram;
}

/** Who asks for an image. */
export type Asker = {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** True: what is not on the engine is not brought there. */
  readonly presentOnly?: boolean | undefined;
};

/** Label of an image that says what its sandboxes start with, so that nobody has to look. */
export const agentLabel = "sandkit.agent";

/** Brings images onto the engine and knows what is in them. */
export class ImageStore {
  readonly #pull: "missing" | "never";
  readonly #looking = new SharedWork<ImageInspectInfo | undefined>();
  readonly #fetching = new SharedWork<void>();
  readonly #probing = new SharedWork<FirstProgram>();
  readonly #first = new Map<string, FirstProgram>();

  constructor(pull: "missing" | "never" = "missing") {
    this.#pull = pull;
  }

  /** @throws SandboxError `NOT_FOUND`, `UNAVAILABLE`; or the reason of the signal */
  async prepare(engine: EngineClient, template: Template, asker: Asker): Promise<ImageFacts> {
    const reference = template.build ? builtName(template) : template.image;
    // Creates at one time ask for it once.
    const look = () => inspectImage(engine, reference);
    let found = await this.#looking.run(`${engine.place} ${reference}`, asker, look);
    if (!found) {
      await this.#bring(engine, template, reference, asker);
      found = await look();
    }
    if (!found) throw missing(template, reference);
    const { Id: id, Config: config } = found;
    const env = config?.Env ?? [];
    // A snapshot of a sandbox with packages, and whatever else was made over a set, has them too.
    const claimed = setIn(config?.Labels);
    const added = claimed && (await isOver(engine, found, claimed.base)) ? claimed : undefined;
    const origin = added?.base ?? id;
    const facts = {
      ...{ id, reference, origin },
      ...(added && { packages: added.lock, set: added.key }),
      env: added ? withPrograms(env) : env,
      volumes: Object.keys(config?.Volumes ?? {}),
      triggers: config?.OnBuild ?? [],
    };
    const known = template.first ?? this.#first.get(origin) ?? declared(config?.Labels?.[agentLabel]);
    const first = known ?? (await this.#probing.run(id, asker, (job) => probeImage(engine, id, job)));
    this.#first.set(origin, first);
    return { ...facts, first };
  }

  async #bring(engine: EngineClient, template: Template, reference: string, asker: Asker): Promise<void> {
    if (this.#pull === "never" || asker.presentOnly) throw missing(template, reference);
    await this.#fetching.run(reference, asker, async (job) => {
      const { image } = template;
      if (!(await inspectImage(engine, image))) await pullImage(engine, image, job);
      if (template.build) await buildTemplate(engine, template, job);
    });
  }
}

function declared(label: string | undefined): FirstProgram | undefined {
  return label === "python" || label === "node" || label === "shell" ? label : undefined;
}

function missing(template: Template, reference: string): SandboxError {
  const next = template.build
    ? `leave out pull: "never" once, so that it is built from ${template.image}; or give an image that you have ("images" of the options: { "${template.name}": "…" })`
    : `run "docker pull ${template.image}", or leave out pull: "never"`;
  return new SandboxError("NOT_FOUND", `image "${reference}" is not on the engine: ${next}`, {
    provider: providerName,
    operation: "create",
  });
}
