import { setTimeout as pause } from "node:timers/promises";
import type { SandboxError } from "@sandkit/core";
import { ownerState } from "@sandkit/core/kit";
import type { CompiledAgents } from "../compiled-agents.js";
import type { EngineClient } from "../engine/client.js";
import { engineError, refusal, statusOf } from "../errors.js";
import type { Asker, ImageFacts } from "../image-store.js";
import { inspectImage } from "../images.js";
import { ownerKey } from "../labels.js";
import type { DockerOptions } from "../options.js";
import type { SandboxPlan } from "../plan-sandbox.js";
import { removeContainer } from "../removal.js";
import { SharedWork } from "../shared-work.js";
import { installerName, installSet } from "./install-set.js";
import type { Installation } from "./installation.js";
import { type PackageSet, packageSet, setIn } from "./package-set.js";
import { withPrograms } from "./places.js";
import { lastUse, noteUse } from "./unused-sets.js";

const lookAgainMs = 200;

/** Images with packages over others: each made once on its engine, by whoever asks for it first. */
export class PackageSets {
  readonly #options: DockerOptions;
  readonly #agents: CompiledAgents;
  readonly #installing = new SharedWork<void>();

  constructor(options: DockerOptions, agents: CompiledAgents) {
    this.#options = options;
    this.#agents = agents;
  }

  /**
   * The image with these packages over this one.
   * @throws SandboxError `UNSUPPORTED` for an image with neither Python nor Node; for packages that cannot be had, with
   * `packageFailure`; or the reason of the signal
   */
  async prepare(
    engine: EngineClient,
    base: ImageFacts,
    { packages, indexes, runtime }: Pick<SandboxPlan, "packages" | "indexes" | "runtime">,
    asker: Asker,
  ): Promise<ImageFacts> {
    refuseTriggers(base);
    const set = packageSet(base.origin, packages, indexes);
    // A snapshot may have them already.
    if (base.set === set.key) return base;
    if (base.set !== undefined) throw otherSet(base, set);
    const found = await findSet(engine, set, base);
    if (found) {
      noteUse(engine, set, found.usedAt, asker.onProgress);
      return found.facts;
    }
    if (asker.presentOnly)
      throw engineError(new Error("it is not there"), { operation: "create", subject: set.reference });
    await this.#installing.run(set.key, asker, (job) => this.#install({ engine, base, set, indexes, runtime, ...job }));
    const made = await findSet(engine, set, base);
    if (made) return made.facts;
    throw engineError(new Error("its image is gone again"), { operation: "create", subject: set.reference });
  }

  async #install(work: Omit<Installation, "options" | "agents">): Promise<void> {
    const { engine, base, set, signal, onProgress } = work;
    for (;;) {
      try {
        return await installSet({ ...work, options: this.#options, agents: this.#agents });
      } catch (error) {
        if (statusOf(error instanceof Error ? error.cause : undefined) !== 409) throw error;
        onProgress(`another program installs ${set.names.join(", ")}: waiting for it`);
        await untilGone(engine, installerName(set), signal);
        if (await findSet(engine, set, base)) return;
      }
    }
  }
}

/** They would run at the engine's builder, as root and without what locks a sandbox in. */
function refuseTriggers({ reference, triggers }: ImageFacts): void {
  if (triggers.length === 0) return;
  const next = 'leave "packages" out, or give an image without triggers';
  throw refusal("INVALID", `packages cannot be added to image ${reference}, which has ONBUILD triggers: ${next}`);
}

interface FoundSet {
  readonly facts: ImageFacts;
  readonly usedAt: Date;
}

async function findSet(engine: EngineClient, set: PackageSet, base: ImageFacts): Promise<FoundSet | undefined> {
  const image = await inspectImage(engine, set.reference);
  if (!image) return undefined;
  const { Id: id, Config: config } = image;
  const added = setIn(config?.Labels);
  // Whoever names an image like that has not made it this set's.
  if (added?.key !== set.key || added.base !== base.id) return undefined;
  const env = withPrograms(config?.Env ?? base.env);
  return { facts: { ...base, id, env, packages: added.lock, set: set.key }, usedAt: lastUse(image) };
}

/** Two sets in one image would be two versions of what both have. */
function otherSet({ reference, packages = [] }: ImageFacts, { names }: PackageSet): SandboxError {
  const message = `option "packages": ${reference} has packages already (${packages.join(", ")}), and no others can be added (${names.join(", ")}): leave them out, or snapshot a sandbox that has them all`;
  return refusal("INVALID", message);
}

/** Waits for the end of the container in which another program installs. One whose owner has died is removed. */
async function untilGone(engine: EngineClient, name: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const found = await engine.inspect(name);
    if (!found) return;
    const owner = found.Config.Labels[ownerKey] ?? "";
    if (!found.State.Running && (await ownerState(owner)) === "dead") await removeContainer(engine, found.Id);
    await pause(lookAgainMs, undefined, { signal });
  }
}
