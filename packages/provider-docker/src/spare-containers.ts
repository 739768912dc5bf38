import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type ProviderSession, SandboxError } from "@sandkit/core";
import { ownerLabel, Pool, type Slots } from "@sandkit/core/kit";
import { firstCommand } from "./agent-program.js";
import { claimedName } from "./claimed-name.js";
import type { CompiledAgents } from "./compiled-agents.js";
import type { EngineClient } from "./engine/client.js";
import type { EngineConnector } from "./engine/connector.js";
import { requireEngine } from "./engine/require-engine.js";
import { onEngine, providerName } from "./errors.js";
import type { Asker, ImageFacts } from "./image-store.js";
import { spareLabels } from "./labels.js";
import { anyUser, birthKey, type SandboxPlan } from "./plan-sandbox.js";
import { removeContainer } from "./removal.js";
import { moveIn, type StartedContainer, startContainer, type Tenant } from "./start-sandbox.js";

/** How long the agent of a new container may take to begin, in milliseconds. */
const startTimeoutMs = 30_000;
/** An agent that waits answers in a few milliseconds: after these the engine is asked whether it still can. */
const lookAfterMs = 100;
/** One that runs and does not answer within these is given up. */
const answerTimeoutMs = 2_000;

/** A container that waits for its sandbox. */
interface Spare extends StartedContainer {
  readonly engine: EngineClient;
  /** Settles when its first program has ended, or the way to it. */
  readonly ended: Promise<void>;
}

/** The image that a sandbox starts from. */
export type ImageOf = (engine: EngineClient, plan: SandboxPlan, asker: Asker) => Promise<ImageFacts>;

/** What a pool of containers needs of its provider. */
export interface SpareContainersOptions {
  readonly size: number;
  readonly connector: EngineConnector;
  readonly imageOf: ImageOf;
  readonly agents: CompiledAgents;
  /** Shared with creates that somebody waits for. */
  readonly slots: Slots;
}

/** Containers started before anybody asks, whose agents wait to be spoken to. Each becomes one sandbox. */
export class SpareContainers {
  readonly #options: SpareContainersOptions;
  readonly #pool: Pool<SandboxPlan, Spare>;

  /** @param usual What is asked for by who asks for nothing else: held before anybody has asked. */
  constructor(options: SpareContainersOptions, usual: SandboxPlan) {
    this.#options = options;
    this.#pool = new Pool({
      size: options.size,
      keyOf: birthKey,
      make: (plan, signal) => options.slots.run(signal, () => this.#make(plan, signal)),
      gone: ({ ended }) => ended,
      dispose,
    });
    this.#pool.keep(usual);
  }

  /**
   * A sandbox in a container that was waiting for one. Undefined when there is none, or none that is fit; those that are
   * not are removed. What else is wrong with the tenant's wishes, a new container will tell.
   * @throws the reason of the signal
   */
  async claim(
    engine: EngineClient,
    image: ImageFacts,
    plan: SandboxPlan,
    tenant: Tenant,
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession | undefined> {
    const name = claimedName(tenant.record);
    if (name === undefined) return undefined;
    for (;;) {
      const spare = await this.#pool.claim(plan, signal);
      if (!spare) return undefined;
      // The name of an image may lead to another one by now.
      const outdated = spare.image.id !== image.id;
      const outcome = outdated ? "unfit" : await this.#moveIn(engine, spare, name, tenant, signal);
      if (outcome !== "unfit" && outcome !== "failed") return outcome;
      dispose(spare).catch(() => undefined);
      signal?.throwIfAborted();
      if (outcome === "failed") return undefined;
    }
  }

  /** Removes the containers that nobody has claimed; none are made from now on. */
  close(): Promise<void> {
    return this.#pool.drain();
  }

  /** `unfit`: it had died or was paused, and the next one may be well. */
  async #moveIn(
    engine: EngineClient,
    spare: Spare,
    name: string,
    tenant: Tenant,
    signal: AbortSignal | undefined,
  ): Promise<ProviderSession | "unfit" | "failed"> {
    const unfit = new AbortController();
    const giveUp = () => unfit.abort(notFit(spare.id));
    spare.ended.then(giveUp);
    const look = setTimeout(() => answersNoMore(engine, spare.id).then((no) => no && giveUp(), giveUp), lookAfterMs);
    const until = signal ? AbortSignal.any([signal, unfit.signal]) : unfit.signal;
    const words = { ...tenant.words, startTimeoutMs: answerTimeoutMs };
    const context = { operation: "create", subject: `container ${spare.id}`, sandboxId: tenant.record.id };
    try {
      const naming = onEngine(context, () => engine.container(spare.id).rename({ name }));
      const moving = moveIn(engine, spare, { ...tenant, words }, until, this.#options.agents);
      const [session] = await Promise.all([moving, naming]);
      return session;
    } catch {
      // Why is told by the container that is made instead, should the same happen to that.
      return unfit.signal.aborted ? "unfit" : "failed";
    } finally {
      clearTimeout(look);
    }
  }

  async #make(plan: SandboxPlan, signal: AbortSignal): Promise<Spare> {
    const { connector, imageOf, agents } = this.#options;
    const engine = (await connector.connect()).inBackground();
    await requireEngine(engine, plan.runtime);
    // Whoever asks for the image first pulls it, or installs packages, and is told so.
    const image = await imageOf(engine, plan, { signal, presentOnly: true });
    const own = plan.anyUser ? { ...plan, user: anyUser() } : plan;
    const first = await firstCommand(image, own, false, agents.of(image.origin));
    const name = `sandkit-spare-${randomUUID()}`;
    const labels = spareLabels(await ownerLabel());
    const started = await startContainer({ engine, name, plan: own, image, labels, detached: false, ...first }, signal);
    const { source } = started.outputs;
    const ended = new Promise<void>((resolve) => {
      if (source.closed) resolve();
      else source.once("close", () => resolve());
    });
    const spare = { ...started, engine, ended };
    try {
      await begun(spare, signal);
      return spare;
    } catch (error) {
      await dispose(spare);
      throw error;
    }
  }
}

/** Waits for the first sign of the agent. */
async function begun({ id, image, outputs, ended }: Spare, signal: AbortSignal): Promise<void> {
  if (image.first === "shell") return;
  const early = ended.then(() => {
    throw notFit(id);
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs)]);
  await Promise.race([once(outputs.stdout, "readable", { signal: limit }), early]);
}

async function answersNoMore(engine: EngineClient, container: string): Promise<boolean> {
  const found = await engine.inspect(container);
  return !found?.State.Running || found.State.Paused;
}

async function dispose({ engine, id, outputs }: Spare): Promise<void> {
  outputs.source.destroy();
  await removeContainer(engine, id);
}

function notFit(container: string): SandboxError {
  const message = `container ${container} has ended, or was paused, while it waited for its sandbox`;
  return new SandboxError("SANDBOX_LOST", message, { provider: providerName, operation: "create" });
}
