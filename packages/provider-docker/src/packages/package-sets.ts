import { setTimeout as pause } from "node:timers/promises";
import { ownerState } from "@sandkit/core";
import type { CompiledAgents } from "../compiled-agents.js";
import type { EngineClient } from "../engine/client.js";
import { engineError, refusal, statusOf } from "../errors.js";
import type { Asker, ImageFacts } from "../image-store.js";
import { ownerKey } from "../labels.js";
import type { DockerOptions } from "../options.js";
import type { SandboxPlan } from "../plan-sandbox.js";
import { removeContainer } from "../removal.js";
import { SharedWork } from "../shared-work.js";
import { installerName, installSet } from "./install-set.js";
import type { Installation } from "./installation.js";
import { baseKey, lockKey, lockOf, type PackageSet, packageSet, setKey } from "./package-set.js";
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
    if (base.first === "shell") {
      const message = `option "packages" needs python3 or node in the image: ${base.reference} has neither`;
      throw refusal("UNSUPPORTED", message);
    }
    const set = packageSet(base, packages, indexes);
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

interface FoundSet {
  readonly facts: ImageFacts;
  readonly usedAt: Date;
}

async function findSet(engine: EngineClient, set: PackageSet, base: ImageFacts): Promise<FoundSet | undefined> {
  try {
    const image = await engine.dockerode.getImage(set.reference).inspect();
    const { Id: id, Config: config } = image;
    const labels: Readonly<Record<string, string>> = config?.Labels ?? {};
    // Whoever names an image like that has not made it this set's.
    if (labels[setKey] !== set.key || labels[baseKey] !== base.id) return undefined;
    const packages = lockOf(labels[lockKey] ?? "");
    const env = withPrograms(config?.Env ?? base.env);
    return { facts: { ...base, id, env, packages }, usedAt: lastUse(image) };
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw engineError(error, { operation: "create", subject: `image ${set.reference}` });
  }
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
