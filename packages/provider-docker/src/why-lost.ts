import { Readable } from "node:stream";
import type { EngineClient } from "./engine/client.js";
import { jsonLines } from "./engine/json-lines.js";

/** How long the engine's account of an end may take, in milliseconds. */
const patienceMs = 1_500;
/** An end that comes this soon after memory ran out, in nanoseconds, came of it. */
const soonNs = 3e9;
/** The exit code of what was killed with SIGKILL. */
const killed = "137";

/** The last that is told of a container: by Docker, by Podman. */
const ends: readonly string[] = ["destroy", "remove"];
/** Podman is asked for a death by another name than it tells it with. */
const asked: readonly string[] = ["oom", "kill", "die", "died", ...ends];

/** What the engine tells of one moment in a container's life. */
interface Moment {
  readonly Action: string;
  readonly timeNano: number;
  readonly Actor?: { readonly Attributes?: { readonly exitCode?: string } };
}

/**
 * Why a container is of no use any more, as the engine that saw it tells; undefined when it saw nothing.
 * @throws whatever the engine's client throws
 */
export async function whyLost(engine: EngineClient, container: string): Promise<string | undefined> {
  const moments = await lastMoments(engine, container);
  const death = moments.findLast(({ Action }) => Action === "die");
  if (!death) {
    const paused = (await engine.inspect(container))?.State.Paused;
    return paused ? `its container is paused (docker unpause ${container.slice(0, 12)})` : undefined;
  }
  const before = moments.filter(({ timeNano }) => Math.abs(death.timeNano - timeNano) < soonNs);
  if (before.some(({ Action }) => Action === "oom")) return "its memory ran out (more: resources.memoryMiB)";
  if (before.some(({ Action }) => Action === "kill")) return "somebody ended its container";
  const code = death.Actor?.Attributes?.exitCode;
  return code === killed ? "its first process was killed" : `its first process ended with exit code ${code}`;
}

/** The engine keeps them for a while after the container is gone. */
async function lastMoments(engine: EngineClient, container: string): Promise<readonly Moment[]> {
  const filters = JSON.stringify({ container: [container], event: asked });
  const stream = await engine.dockerode.getEvents({ since: 1, filters });
  if (!(stream instanceof Readable)) throw new Error("the engine's client gives no stream of events");
  const moments: Moment[] = [];
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stream.destroy();
  }, patienceMs);
  try {
    for await (const line of jsonLines(stream)) {
      moments.push(line as unknown as Moment);
      if (ends.includes(String(line.Action))) break;
    }
  } catch (error) {
    if (!late) throw error;
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
  return moments;
}
