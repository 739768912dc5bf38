import type { Duplex } from "node:stream";
import { type Capabilities, type ProviderSession, proxyPreload } from "@sandkit/core";
import { bridgeStreams } from "./agent-program.js";
import { environmentOf } from "./archive-plan.js";
import type { CompiledAgents } from "./compiled-agents.js";
import { type ContainerOrder, createContainer } from "./create-container.js";
import { DockerSession, type ForkSession } from "./docker-session.js";
import { egressEnvironment } from "./egress.js";
import type { EngineClient } from "./engine/client.js";
import { gitConfig, preloadPath, toolEnvironment } from "./environment.js";
import { onEngine } from "./errors.js";
import { PauseState } from "./pause-state.js";
import { openPlainSession } from "./plain/plain-session.js";
import { removeContainer } from "./removal.js";
import { type FirstWords, openSession } from "./session.js";
import { partsOf } from "./snapshots.js";
import { unpackParts } from "./unpack-workspace.js";

/** What a new sandbox is given beside its container. */
export interface StartOptions {
  readonly capabilities: Capabilities;
  readonly words: FirstWords;
  readonly signal: AbortSignal | undefined;
  readonly agents: CompiledAgents;
  readonly fork: ForkSession;
  /** Id of the snapshot that its image has. */
  readonly snapshot?: string | undefined;
}

/** Makes the container of a sandbox, starts it and speaks to its agent. Failed or aborted, it leaves nothing. */
export async function startSandbox(order: ContainerOrder, options: StartOptions): Promise<ProviderSession> {
  const { engine, record, image, plan } = order;
  const { capabilities, words, signal, agents, fork, snapshot } = options;
  signal?.throwIfAborted();
  // Calls that change something are never aborted in the middle: what they did would not be known.
  const { id: container, cpus } = await createContainer(order);
  let streams: Duplex | undefined;
  try {
    signal?.throwIfAborted();
    streams = record.detached
      ? await startDetached(engine, container, record.id)
      : await startAttached(order, container);
    signal?.throwIfAborted();
    const env = {
      ...toolEnvironment(image.env, cpus),
      ...(plan.egress && egressEnvironment(preloadPath)),
      ...plan.env,
    };
    const standstill = new PauseState();
    const box = { engine, container, record, capabilities, origin: "created", first: image.first, standstill } as const;
    const open = image.first === "shell" ? openPlainSession : openSession;
    const session = await open(box, streams, { ...words, env, settingUp: record.detached }, signal);
    if (image.first === "python" && "code" in session) agents.learn(image.id, session);
    if (snapshot !== undefined) await restore(engine, container, session, snapshot, signal);
    if (plan.egress) await writeText(session, preloadPath, await proxyPreload(), signal);
    await writeText(session, gitConfig.path, gitConfig.content, signal);
    if (record.detached && "ready" in session) await session.ready();
    return new DockerSession(session, box, fork);
  } catch (error) {
    streams?.destroy();
    await removeContainer(engine, container, record.id);
    throw error;
  }
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
  const env = inspected ? environmentOf(inspected) : {};
  await unpackParts(session, partsOf(snapshot), { env, signal });
}

function writeText({ files }: ProviderSession, path: string, text: string, signal: AbortSignal | undefined) {
  return files.write(path, new Blob([text]).stream(), { mode: "truncate", signal });
}

/** The first program's stdin is the channel: it ends with this process, and the container with it. */
async function startAttached({ engine, record, head }: ContainerOrder, container: string): Promise<Duplex> {
  const context = { operation: "create", subject: `container ${container}`, sandboxId: record.id };
  // Before the start: one that runs with nobody attached would have no owner to die with.
  const streams = await onEngine(context, () => engine.attach(container));
  try {
    if (head) streams.write(head);
    await onEngine(context, () => engine.container(container).start());
    return streams;
  } catch (error) {
    streams.destroy();
    throw error;
  }
}

async function startDetached(engine: EngineClient, container: string, sandboxId: string): Promise<Duplex> {
  const context = { operation: "create", subject: `container ${container}`, sandboxId };
  await onEngine(context, () => engine.container(container).start());
  return bridgeStreams(engine, container, sandboxId);
}
