import type { Duplex } from "node:stream";
import { capabilities, type ProviderSession, SandboxError, type SpawnOptions } from "@sandkit/core";
import { directories } from "../environment.js";
import { providerName } from "../errors.js";
import { ownEnvironment } from "../own-environment.js";
import { type Box, type FirstWords, infoOf, removalOf } from "../session.js";
import { Turns } from "../turns.js";
import { type ExecPlace, lostSandbox } from "./engine-exec.js";
import { runGuest } from "./guest-run.js";
import { plainFiles } from "./plain-files.js";
import { PlainProcess } from "./plain-process.js";
import { ProgramMarks } from "./program-marks.js";

/** Programs that are being started at one time; engines have stalled with more. */
const startsAtOneTime = 8;
/** Found like an interpreter, and told as a feature. */
const git = "git";
const shells: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "fish"]);

/** First program of a box without an agent: lives as long as somebody holds its input. Needs nothing but a shell. */
export const plainCommand: readonly string[] = ["sh", "-c", "while read -r _; do :; done"];

/** A session that may end by itself. */
export interface PlainSession extends ProviderSession {
  /** Settles when the container has lost its owner or its life; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * The session of a box whose image has neither Python nor Node: a program of the engine's for each command.
 * @throws SandboxError `UNAVAILABLE` when the image's tools are not enough, `SANDBOX_LOST`; or `signal.reason`
 */
export async function openPlainSession(
  box: Box,
  streams: Duplex,
  words: FirstWords,
  signal?: AbortSignal,
): Promise<PlainSession> {
  const { engine, container, record } = box;
  const inspected = await engine.inspect(container);
  if (!inspected) throw lostSandbox(record.id);
  const place: ExecPlace = {
    engine,
    container,
    sandboxId: record.id,
    own: ownEnvironment(inspected),
    marks: new ProgramMarks(),
  };
  const turns = new Turns(startsAtOneTime);
  const processes = new Map<string, PlainProcess>();
  const remove = removalOf(box);
  let lost = false;
  const closed = new Promise<void>((resolve) => {
    streams.once("close", () => {
      lost = true;
      for (const process of processes.values()) process.abandon();
      resolve();
    });
  });
  // What the first program writes is nothing, and nobody listens.
  streams.resume();
  closed.then(remove).catch(() => undefined);
  const found = await lookAround(place, signal);
  const lostCheck = () => {
    if (lost) throw lostSandbox(record.id);
  };
  const files = plainFiles(place);
  return {
    ref: { provider: providerName, id: record.id },
    workdir: record.workdir,
    capabilities: plainCapabilities(box, found.includes(git)),
    files,
    closed,
    native: { container: engine.container(container), dockerode: engine.dockerode },
    async spawn(command, options) {
      lostCheck();
      const env = { ...words.env, ...options.env };
      const cwd = options.cwd ?? record.workdir;
      refuseUnfit(command, options, record.id);
      const start = () => PlainProcess.start(place, command, { ...options, cwd, env });
      const process = await turns.run(options.signal, start);
      processes.set(process.id, process);
      const forget = () => processes.delete(process.id);
      process.gone.then(forget, forget);
      return process;
    },
    async process(id) {
      return processes.get(id) ?? null;
    },
    async info() {
      const interpreters = found.filter((name) => !shells.has(name) && name !== git);
      const ref = { provider: providerName, id: record.id };
      return { ref, ...(await infoOf(box)), shells: found.filter((name) => shells.has(name)), interpreters };
    },
    async destroy() {
      await remove();
      streams.destroy();
    },
  };
}

/** Makes the directories that tools expect and finds out what there is. */
async function lookAround(place: ExecPlace, signal: AbortSignal | undefined): Promise<string[]> {
  const { stdout, stderr } = await runGuest(place, "look", directories);
  signal?.throwIfAborted();
  const found = stdout.toString("utf8").split("\n").filter(Boolean);
  if (found.length > 0) return found;
  throw new SandboxError(
    "UNAVAILABLE",
    `the image's shell cannot make the directories of a sandbox: ${stderr.trim()}`,
    {
      provider: providerName,
      operation: "create",
      sandboxId: place.sandboxId,
    },
  );
}

/** Less what an agent would give and the engine does not, and what the image lacks. */
function plainCapabilities({ capabilities: { isolation, features, limits } }: Box, hasGit: boolean) {
  return capabilities({
    isolation,
    limits,
    features: {
      ...features,
      "exec.killTree": "emulated",
      "exec.pty": false,
      "files.stream": "emulated",
      "kernel.python": false,
      "kernel.javascript": false,
      "kernel.bash": false,
      "kernel.interrupt": false,
      git: hasGit && features.git,
    },
  });
}

function refuseUnfit(command: readonly string[], options: SpawnOptions, sandboxId: string): void {
  const details = { provider: providerName, operation: "exec", sandboxId };
  if (options.user !== undefined || options.pty !== undefined) {
    const what = options.user !== undefined ? "user" : "pty";
    throw new SandboxError("UNSUPPORTED", `exec option "${what}" needs python3 or node in the image`, details);
  }
  const texts = [...command, ...Object.values(options.env ?? {})];
  if (texts.some((text) => /\p{Surrogate}/u.test(text))) {
    throw new SandboxError("INVALID", "exec: an argument has half a character, which no program can take", details);
  }
}
