import { setTimeout as pause } from "node:timers/promises";
import type { ProviderSession } from "@sandkit/core";
import { PausedSession } from "@sandkit/core/kit";
import { bridgeStreams } from "./agent-program.js";
import { dockerCapabilities } from "./capabilities.js";
import { type FoundSandbox, findSandbox } from "./detached.js";
import { DockerSession } from "./docker-session.js";
import type { EngineClient } from "./engine/client.js";
import { demultiplex } from "./engine/demux.js";
import { providerName } from "./errors.js";
import { freeze } from "./freeze.js";
import type { DockerOptions } from "./options.js";
import { PauseState } from "./pause-state.js";
import { type Box, infoOf, openSession, removalOf } from "./session.js";

/** Between two looks whether a sandbox is set up. */
const lookAgainMs = 50;

/** Another client of a detached sandbox, which may end meanwhile: null when it has. */
export async function joinLiving(
  engine: EngineClient,
  found: FoundSandbox,
  options: DockerOptions,
  signal: AbortSignal | undefined,
): Promise<ProviderSession | null> {
  try {
    return await join(engine, found, options, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const now = await findSandbox(engine, found.record.id);
    if (now && now.state !== "ending") throw error;
    return null;
  }
}

/** A detached sandbox that was found paused, and stays so until somebody resumes it. */
export function joinPaused(engine: EngineClient, found: FoundSandbox, options: DockerOptions): ProviderSession {
  const box = boxOf(engine, found, options);
  return new PausedSession({
    ref: { provider: providerName, id: found.record.id },
    workdir: found.record.workdir,
    capabilities: box.capabilities,
    native: { container: engine.container(found.container), dockerode: engine.dockerode },
    info: () => infoOf(box),
    destroy: removalOf(box),
    wake: () => join(engine, found, options),
  });
}

async function join(
  engine: EngineClient,
  found: FoundSandbox,
  options: DockerOptions,
  signal?: AbortSignal,
): Promise<ProviderSession> {
  const box = boxOf(engine, found, options);
  if (found.state === "paused") await freeze(engine, found.container, false, found.record.id);
  for (;;) {
    const streams = await bridgeStreams(engine, found.container, found.record.id);
    const session = await openSession(box, demultiplex(streams), { joins: true }, signal);
    if (!session.isBeingSetUp) return new DockerSession(session, box);
    // Its maker ends it, if it leaves before it is done.
    await session.leave();
    await pause(lookAgainMs, undefined, { signal });
  }
}

function boxOf(engine: EngineClient, { container, record, runtime }: FoundSandbox, options: DockerOptions): Box {
  const capabilities = dockerCapabilities(options, runtime);
  const standstill = new PauseState();
  return { engine, container, record, capabilities, origin: "attached", first: "python", standstill };
}
