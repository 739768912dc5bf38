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
import { spareLabels } from "./labels.js";
import { anyUser, birthKey, type SandboxPlan } from "./plan-sandbox.js";
import type { Start, Starts } from "./prepare-start.js";
import { removeContainer } from "./removal.js";
import { moveIn, type StartedContainer, startContainer, type Tenant } from "./start-sandbox.js";

/** How long the agent of a new container may take to begin, in milliseconds. */
const startTimeoutMs = 30_000;
/** An agent that waits answers in a few milliseconds: after these the engine is asked whether it still can. */
const lookAfterMs = 100;
/** One that runs and does not answer within these is given up: on a busy machine a new one would take longer still. */
const answerTimeoutMs = 10_000;

/** A container that waits for its sandbox. */
interface Spare extends StartedContainer {
  readonly engine: EngineClient;
  /** Settles when its first program has ended, or the way to it. */
  readonly ended: Promise<void>;
}

/** Who wants a container. */
export interface Wish {
  readonly plan: SandboxPlan;
  /** Who is to live in a container of this engine and image. */
  readonly tenantOf: (start: Pick<Start, "engine" | "image">) => Tenant;
  readonly signal?: AbortSignal | undefined;
}

/** What a pool of containers needs of its provider. */
export interface SpareContainersOptions {
  readonly size: number;
  readonly connector: EngineConnector;
  readonly starts: Starts;
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
   * @param starting What a new container would start from, which one that has waited must be of too.
   * @throws what `starting` does; the reason of the signal
   */
  async claim(wish: Wish, starting: Promise<Start>): Promise<ProviderSession | undefined> {
    const { plan, signal } = wish;
    const fitsName = (start: Pick<Start, "engine" | "image">) => claimedName(wish.tenantOf(start).record) !== undefined;
    // What it must be of is looked up while it is moved into.
    let spare = this.#pool.take(plan, fitsName);
    if (!spare) {
      if (!fitsName(await starting)) return undefined;
      spare = await this.#pool.claim(plan, signal);
    }
    while (spare) {
      const outcome = await this.#moveIn(spare, wish, starting);
      if (outcome !== "unfit" && outcome !== "failed") return outcome;
      dispose(spare).catch(() => undefined);
      signal?.throwIfAborted();
      await starting;
      if (outcome === "failed") return undefined;
      spare = await this.#pool.claim(plan, signal);
    }
    return undefined;
  }

  /** Removes the containers that nobody has claimed; none are made from now on. */
  close(): Promise<void> {
    return this.#pool.drain();
  }

  /** `unfit`: it had died, was paused, or is of another image by now, and the next one may be well. */
  async #moveIn(spare: Spare, wish: Wish, starting: Promise<Start>): Promise<ProviderSession | "unfit" | "failed"> {
    const { id, engine, image } = spare;
    const tenant = wish.tenantOf(spare);
    const unfit = new AbortController();
    const giveUp = () => unfit.abort(notFit(id));
    spare.ended.then(giveUp);
    const look = setTimeout(() => answersNoMore(engine, id).then((no) => no && giveUp(), giveUp), lookAfterMs);
    const until = wish.signal ? AbortSignal.any([wish.signal, unfit.signal]) : unfit.signal;
    const words = { ...tenant.words, startTimeoutMs: answerTimeoutMs };
    const context = { operation: "create", subject: `container ${id}`, sandboxId: tenant.record.id };
    try {
      // The engine takes longer than the agent.
      const naming = onEngine(context, () => engine.container(id).rename({ name: claimedName(tenant.record) }));
      const moving = moveIn(engine, spare, { ...tenant, words }, until, this.#options.agents);
      const suiting = starting.then((start) => {
        // The name of an image may lead to another one by now, and the way to engines to another engine.
        if (start.image.id === image.id && start.engine.place === engine.place) return;
        giveUp();
        throw unfit.signal.reason;
      });
      const [session] = await Promise.all([moving, naming, suiting]);
      return session;
    } catch {
      // Why is told by the container that is made instead, should the same happen to that.
      return unfit.signal.aborted ? "unfit" : "failed";
    } finally {
      clearTimeout(look);
    }
  }

  async #make(plan: SandboxPlan, signal: AbortSignal): Promise<Spare> {
    const { connector, starts, agents } = this.#options;
    const engine = await connector.connect();
    const quiet = engine.inBackground();
    await requireEngine(quiet, plan.runtime);
    // Whoever asks for the image first pulls it, or installs packages, and is told so.
    const image = await starts.imageOf(quiet, plan, { signal, presentOnly: true });
    const own = plan.anyUser ? { ...plan, user: anyUser() } : plan;
    const first = await firstCommand(image, own, false, agents.of(image.origin));
    const name = `sandkit-spare-${randomUUID()}`;
    const labels = spareLabels(await ownerLabel());
    const started = await startContainer(
      { engine: quiet, name, plan: own, image, labels, detached: false, ...first },
      signal,
    );
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
  await removeContainer(engine.inBackground(), id);
}

function notFit(container: string): SandboxError {
  const message = `container ${container} has ended, or was paused, while it waited for its sandbox`;
  return new SandboxError("SANDBOX_LOST", message, { provider: providerName, operation: "create" });
}
