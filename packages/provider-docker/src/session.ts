import { type Capabilities, SandboxError, type SandboxInfo } from "@sandkit/core";
import { type AgentSession, agentSession, type Channel, Once, streamChannel } from "@sandkit/core/kit";
import { egressPort, shownNetwork } from "./egress.js";
import type { EngineClient } from "./engine/client.js";
import type { Demultiplexed } from "./engine/demux.js";
import { directoriesOf } from "./environment.js";
import { providerName } from "./errors.js";
import type { FirstProgram } from "./hardening.js";
import type { SandboxRecord } from "./labels.js";
import type { PauseState } from "./pause-state.js";
import { removeContainer } from "./removal.js";
import { whyLost } from "./why-lost.js";

/** A container with a sandbox in it. */
export interface Box {
  readonly engine: EngineClient;
  /** Id of the container: its name may be another's one day. */
  readonly container: string;
  readonly record: SandboxRecord;
  readonly capabilities: Capabilities;
  readonly origin: SandboxInfo["origin"];
  /** What the container starts with. */
  readonly first: FirstProgram;
  readonly standstill: PauseState;
}

/** What the first client of an agent decides. */
export interface FirstWords {
  readonly env?: Readonly<Record<string, string>>;
  /** Texts by path: files that are there before anything else is. */
  readonly files?: Readonly<Record<string, string>>;
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** How long the agent may take to answer, in milliseconds; default 30 s. */
  readonly startTimeoutMs?: number | undefined;
  /** Others wait until it is said to be ready. */
  readonly settingUp?: boolean | undefined;
  /** It decides nothing: it joins what another has made. */
  readonly joins?: boolean | undefined;
}

/**
 * The session of a box, over the streams that lead to its agent.
 * @throws SandboxError `UNAVAILABLE` with what the agent's program said, `SANDBOX_LOST`; or `signal.reason`
 */
export async function openSession(
  box: Box,
  outputs: Demultiplexed,
  words: FirstWords,
  signal?: AbortSignal,
): Promise<AgentSession> {
  const streams = outputs.source;
  const refer = (how: "ref" | "unref") => {
    if (how in streams) Reflect.apply(Reflect.get(streams, how), streams, []);
  };
  const { standstill, engine, container, record } = box;
  const channel: Channel = {
    ...streamChannel({
      readable: outputs.stdout,
      writable: streams,
      ref: () => refer("ref"),
      unref: () => refer("unref"),
    }),
    get stalled() {
      return standstill.paused;
    },
    silent: () => {
      standstill.look(engine, container, record.id);
    },
  };
  const remove = removalOf(box);
  try {
    const network = await networkOf(box);
    const session = await agentSession(channel, {
      ref: { provider: providerName, id: box.record.id },
      capabilities: box.capabilities,
      workdir: box.record.workdir,
      directories: directoriesOf(box.record),
      signal,
      ...words,
      network,
      info: () => infoOf(box),
      explainLoss: () => explainLoss(box, outputs),
      destroy: remove,
      native: { container: box.engine.container(box.container), dockerode: box.engine.dockerode },
    });
    // Without its channel an attached one is of no use to anybody. What fails here is tried again by `destroy`, and
    // after this program's end by the next one's sweep.
    if (!box.record.detached) session.closed.then(remove).catch(() => undefined);
    return session;
  } catch (error) {
    throw withLastWords(error, outputs);
  }
}

/** Serves what the sandbox may reach; loaded where there is something. */
async function networkOf({ record }: Box) {
  if (!record.egress) return undefined;
  const { BoxNetwork } = await import("@sandkit/core/network");
  return new BoxNetwork(record.egress, egressPort);
}

/** Removes the container once, however many ask for it. */
export function removalOf({ engine, container, record }: Box): () => Promise<void> {
  const removal = new Once<void>();
  return () => removal.run(() => removeContainer(engine, container, record.id));
}

/** What the engine says of a box. */
export async function infoOf(box: Box): Promise<Omit<SandboxInfo, "ref" | "shells" | "interpreters">> {
  const inspected = await box.engine.inspect(box.container);
  const found = inspected?.State;
  const { name, template, createdAt, labels, packages } = box.record;
  const state = found?.Paused ? "paused" : found?.Running ? "running" : "gone";
  // What a bridge leads to is not known here.
  const network = inspected?.HostConfig.NetworkMode === "none" ? shownNetwork(box.record.egress) : undefined;
  const folders = (inspected?.Mounts ?? []).filter(({ Type }) => Type === "bind");
  // The engine tells them in any order.
  const mounts = folders
    .map(({ Destination: path, RW }) => ({ path, readOnly: !RW }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const told = mounts.length > 0 ? { mounts } : {};
  return { state, origin: box.origin, name, template, createdAt, labels, packages, network, ...told };
}

async function explainLoss({ engine, container }: Box, outputs: Demultiplexed): Promise<string | undefined> {
  const reasons = [await whyLost(engine, container), lastWords(outputs)];
  return reasons.filter(Boolean).join(": ") || undefined;
}

/** An agent that does not answer may have said why on stderr; one that has ended was asked for that already. */
function withLastWords(error: unknown, outputs: Demultiplexed): unknown {
  const words = lastWords(outputs);
  if (words === undefined || !(error instanceof SandboxError) || error.code === "SANDBOX_LOST") return error;
  return new SandboxError(error.code, `${error.message}: ${words}`, { ...error.toJSON(), cause: error });
}

function lastWords(outputs: Demultiplexed): string | undefined {
  const words = outputs.stderr().trim().split("\n").slice(-3).join(" | ");
  return words === "" ? undefined : `its agent said: ${words}`;
}
