import type { Duplex } from "node:stream";
import type { Capabilities, ProviderSession } from "@sandkit/core";
import { proxyPreload } from "@sandkit/core/kit";
import { bridgeStreams } from "./agent-program.js";
import { unpackPlanOf } from "./archive-plan.js";
import type { CompiledAgents } from "./compiled-agents.js";
import { type ContainerOrder, createContainer, type MadeContainer } from "./create-container.js";
import { creationError } from "./creation-error.js";
import { DockerSession, type ForkSession } from "./docker-session.js";
import { egressEnvironment } from "./egress.js";
import type { EngineClient } from "./engine/client.js";
import { type Demultiplexed, demultiplex } from "./engine/demux.js";
import { gitConfig, offlineEnvironment, preloadPath, toolEnvironment } from "./environment.js";
import { onEngine } from "./errors.js";
import type { ImageFacts } from "./image-store.js";
import type { SandboxRecord } from "./labels.js";
import { PauseState } from "./pause-state.js";
import { openPlainSession } from "./plain/plain-session.js";
import type { SandboxPlan } from "./plan-sandbox.js";
import { removeContainer } from "./removal.js";
import { type FirstWords, openSession } from "./session.js";
import { partsOf } from "./snapshots.js";
import { unpackParts } from "./unpack-workspace.js";
import { writeTexts } from "./write-texts.js";

/** A container that runs, with nobody spoken to yet. */
export interface StartedContainer extends MadeContainer {
  readonly image: ImageFacts;
  readonly outputs: Demultiplexed;
}

/** A sandbox that moves into a container. */
export interface Tenant {
  readonly record: SandboxRecord;
  readonly capabilities: Capabilities;
  /** What it asks for: what is fixed when a container starts is as its container has it. */
  readonly plan: SandboxPlan;
  readonly words: FirstWords;
  readonly fork?: ForkSession | undefined;
  /** Id of the snapshot that its image has. */
  readonly snapshot?: string | undefined;
}

/** Makes the container of a sandbox, starts it and speaks to its agent. Failed or aborted, it leaves nothing. */
export async function startSandbox(
  order: ContainerOrder,
  tenant: Tenant,
  signal: AbortSignal | undefined,
  agents: CompiledAgents,
): Promise<ProviderSession> {
  const started = await startContainer(order, signal);
  try {
    return await moveIn(order.engine, started, tenant, signal, agents);
  } catch (error) {
    started.outputs.source.destroy();
    await removeContainer(order.engine, started.id, order.sandboxId);
    throw error;
  }
}

/** Makes a container and starts it. Failed or aborted, it leaves nothing. */
export async function startContainer(
  order: ContainerOrder,
  signal: AbortSignal | undefined,
): Promise<StartedContainer> {
  signal?.throwIfAborted();
  // Calls that change something are never aborted in the middle: what they did would not be known.
  const made = await createContainer(order);
  let streams: Duplex | undefined;
  try {
    signal?.throwIfAborted();
    streams = order.detached ? await startDetached(order, made.id) : await startAttached(order, made.id);
    signal?.throwIfAborted();
    return { ...made, image: order.image, outputs: demultiplex(streams) };
  } catch (error) {
    streams?.destroy();
    await removeContainer(order.engine, made.id, order.sandboxId);
    throw error;
  }
}

/** Speaks to the agent of a container: from now on it is the tenant's. Failed, the container is of no more use. */
export async function moveIn(
  engine: EngineClient,
  { id: container, cpus, image, outputs }: StartedContainer,
  { record, capabilities, plan, words, fork, snapshot }: Tenant,
  signal: AbortSignal | undefined,
  agents: CompiledAgents,
): Promise<ProviderSession> {
  const standstill = new PauseState();
  const box = { engine, container, record, capabilities, origin: "created", first: image.first, standstill } as const;
  const open = image.first === "shell" ? openPlainSession : openSession;
  const env = {
    ...toolEnvironment(image.env, cpus),
    ...(plan.egress ? egressEnvironment(preloadPath) : plan.network === "none" && offlineEnvironment),
    ...plan.env,
  };
  const own = { [gitConfig.path]: gitConfig.content, ...(plan.egress && { [preloadPath]: await proxyPreload() }) };
  // Those of a snapshot are older: its archive comes first.
  const files = snapshot === undefined ? own : {};
  const session = await open(box, outputs, { ...words, env, files, settingUp: record.detached }, signal);
  if (image.first === "python" && "code" in session) agents.learn(image.origin, session);
  if (snapshot !== undefined) {
    await restore(engine, container, session, snapshot, signal);
    await writeTexts(session, own, signal);
  }
  if (record.detached && "ready" in session) await session.ready();
  return new DockerSession(session, box, fork);
}

/** The files of a snapshot, which the image brings as an archive, in their places. */
async function restore(
  engine: EngineClient,
  container: string,
  session: ProviderSession,
  snapshot: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const inspected = await engine.inspect(container);
  const plan = inspected ? unpackPlanOf(inspected) : { env: {}, foreign: [] };
  await unpackParts(session, partsOf(snapshot), { ...plan, signal });
}

/** The first program's stdin is the channel: it ends with this process, and the container with it. */
async function startAttached(order: ContainerOrder, container: string): Promise<Duplex> {
  const { engine, sandboxId, head } = order;
  const context = { operation: "create", subject: `container ${container}`, sandboxId };
  // Before the start: one that runs with nobody attached would have no owner to die with.
  const streams = await onEngine(context, () => engine.attach(container));
  try {
    if (head) streams.write(head);
    await start(order, container);
    return streams;
  } catch (error) {
    streams.destroy();
    throw error;
  }
}

async function startDetached(order: ContainerOrder, container: string): Promise<Duplex> {
  await start(order, container);
  return bridgeStreams(order.engine, container, order.sandboxId ?? "");
}

async function start(order: ContainerOrder, container: string): Promise<void> {
  try {
    await order.engine.container(container).start();
  } catch (error) {
    throw await creationError(order, `container ${container}`, error);
  }
}
