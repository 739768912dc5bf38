import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { agentSession } from "../agent/agent-session.js";
import { SandboxError } from "../errors.js";
import type { SandboxInfo, SandboxRef } from "../provider.js";
import { defaultLeaseMs } from "./lease.js";
import { Link } from "./link.js";
import type { RemoteBox } from "./remote-box.js";
import type { GuestWay, RemoteGuest } from "./remote-guest.js";
import { type LinkStart, NoPythonError, startLink } from "./start-link.js";
import type { Terminal } from "./terminal.js";

const startMs = 30_000;
const startAttempts = 3;
const retryMs = 200;
/** How long what runs in an attached box outlives the link to it. */
const attachedLeaseMs = 2_000;

/** How a session over a remote box lives. */
export interface RemoteSessionOptions {
  /** Whether this program has just made the box, with its first lease, or found it. */
  readonly origin: SandboxInfo["origin"];
  /** The user's end of the box, from now. */
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** Default 5 minutes; renewed through `box.extend` every third of it. */
  readonly leaseMs?: number | undefined;
  /** What runs in the box outlives this client by a lease; otherwise it ends a minute after the client, at the latest. */
  readonly detached?: boolean | undefined;
  /** False: a box without an agent that lives is over, by its user's end or its owner's, and is `NOT_FOUND`. */
  readonly startAgent?: boolean | undefined;
  /** Who joins is told that the box is still being set up, until `ready` of its session. */
  readonly settingUp?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A box with its agent at work, or what stands in its place. */
export interface OpenedAgent {
  readonly agent: RemoteGuest;
  readonly link: GuestWay;
}

/** What is known only when an agent is opened. */
export interface OpenOptions {
  readonly ttlMs: number | undefined;
  readonly onPaused: () => void;
}

/** Of a box whose pause ends what runs: its files outlive its agent. */
const restartAdvice = "if somebody stopped and started it, resume() goes on with its files; else create a new one";

/** Where a terminal may start that is no place to work: a root's, whose programs are another user's, has its own home. */
const nobodysPlace: ReadonlySet<string> = new Set(["/", "/root"]);

/**
 * Leads a link to the agent of a box, over a new terminal, and greets it: the one place where an agent is opened.
 * @returns `ended` when none is there and `startAgent` is false
 * @throws SandboxError as `remoteSession` does
 */
export async function openAgent(
  box: RemoteBox,
  options: RemoteSessionOptions,
  open: OpenOptions,
): Promise<OpenedAgent | "ended"> {
  const isPaused = async () => (await box.info()).state === "paused";
  const started = await startOnce(box, options).catch((error): "ended" | "no python" => {
    if (options.startAgent === false && error instanceof SandboxError && error.code === "NOT_FOUND") return "ended";
    if (error instanceof NoPythonError) return "no python";
    throw error;
  });
  if (started === "ended") return started;
  if (started === "no python") return openPlain(box, options, open, isPaused);
  const { terminal, start } = started;
  const link = new Link(terminal, start, { isPaused, onPaused: open.onPaused });
  const { cwd, home } = start.place;
  const agent = await agentSession(link, {
    ref: box.ref,
    capabilities: box.capabilities,
    workdir: box.workdir ?? (nobodysPlace.has(cwd) ? home : cwd),
    env: box.env,
    directories: box.directories,
    ttlMs: open.ttlMs,
    idleMs: options.idleMs,
    leaseMs: options.detached ? (options.leaseMs ?? defaultLeaseMs) : attachedLeaseMs,
    settingUp: options.settingUp,
    joins: options.startAgent === false,
    signal: options.signal,
    info: () => box.info(),
    explainLoss: box.explainLoss && (async () => box.explainLoss?.()),
    lossAdvice: box.pause?.keeps === "files" ? restartAdvice : undefined,
    destroy: () => box.destroy(),
    native: box.native,
  });
  return { agent, link };
}

/** A box that runs no agent is used by a shell. */
async function openPlain(
  box: RemoteBox,
  { idleMs, settingUp, startAgent, signal }: RemoteSessionOptions,
  { ttlMs, onPaused }: OpenOptions,
  isPaused: () => Promise<boolean>,
): Promise<OpenedAgent> {
  const tellPaused = async () => {
    const paused = await isPaused();
    if (paused) onPaused();
    return paused;
  };
  const { openPlainGuest } = await import("./plain/plain-guest.js");
  const { guest, terminals } = await openPlainGuest(
    box,
    { ttlMs, idleMs, settingUp, joins: startAgent === false, signal },
    tellPaused,
  );
  return { agent: guest, link: terminals };
}

/** A start cannot be resumed: one that broke is made again, on a new terminal. */
async function startOnce(
  box: RemoteBox,
  { signal, startAgent }: RemoteSessionOptions,
): Promise<{ readonly terminal: Terminal; readonly start: LinkStart }> {
  for (let attempt = 1; ; attempt += 1) {
    const terminal = box.terminal();
    const limit = AbortSignal.timeout(startMs);
    try {
      const start = await startLink(terminal, {
        provider: box.ref.provider,
        sandboxId: box.ref.id,
        agent: agentName(box.ref),
        user: box.user,
        startAgent,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      return { terminal, start };
    } catch (error) {
      // What is left on it ends with the box, or by itself.
      await terminal.end().catch(() => undefined);
      signal?.throwIfAborted();
      if (attempt === startAttempts || !mayPass(error, limit)) throw late(error, limit, box.ref);
      await pause(attempt * retryMs, undefined, { signal });
    }
  }
}

function mayPass(error: unknown, limit: AbortSignal): boolean {
  if (limit.aborted) return false;
  if (error instanceof NoPythonError) return false;
  return !(error instanceof SandboxError) || error.code === "UNAVAILABLE" || error.code === "TRANSPORT";
}

function late(error: unknown, limit: AbortSignal, { provider, id }: SandboxRef): unknown {
  if (!limit.aborted || error !== limit.reason) return error;
  const message = `no shell answered on the terminal of sandbox ${id} within ${startMs / 1000} s`;
  return new SandboxError("UNAVAILABLE", message, { provider, sandboxId: id, operation: "create", cause: error });
}

/** One for each box: on some backends several share a machine, and a copy of a box is another one. */
function agentName({ provider, id }: SandboxRef): string {
  const digest = createHash("sha256").update(`${provider}\0${id}`).digest("hex").slice(0, 32);
  return `sandkit-agent-${digest}`;
}
