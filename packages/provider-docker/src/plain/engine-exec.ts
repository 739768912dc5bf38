import { type Duplex, finished } from "node:stream";
import { SandboxError } from "@sandkit/core";
import type { EngineClient } from "../engine/client.js";
import { startExec } from "../engine/hijack.js";
import { engineError, providerName, statusOf } from "../errors.js";
import type { ProgramMarks } from "./program-marks.js";

/** A program that the engine has started in a container, with its streams as the engine frames them. */
export interface EngineExec {
  readonly streams: Duplex;
  /** Settles when no more comes; never rejects. */
  readonly closed: Promise<void>;
  /** The exit code as the engine knows it; null while it runs. */
  exitCode(): Promise<number | null>;
}

/** Where programs are started. */
export interface ExecPlace {
  readonly engine: EngineClient;
  readonly container: string;
  readonly sandboxId: string;
  readonly marks: ProgramMarks;
  /** What programs of ours find their tools by, as `NAME=value`. */
  readonly own: readonly string[];
}

/**
 * Starts a program beside the others of a container.
 * @throws SandboxError `SANDBOX_LOST` when the container no longer runs
 */
export async function startInContainer(
  { engine, container, sandboxId, own }: ExecPlace,
  command: readonly string[],
  options: { readonly env: readonly string[]; readonly stdin: boolean },
): Promise<EngineExec> {
  try {
    const exec = await engine.container(container).exec({
      Cmd: [...command],
      Env: [...options.env, ...own],
      WorkingDir: "/",
      AttachStdin: options.stdin,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
    });
    const streams = await startExec(engine.dockerode, exec.id);
    const closed = new Promise<void>((resolve) => {
      finished(streams, { writable: false }, () => resolve());
    });
    return { streams, closed, exitCode: async () => (await exec.inspect()).ExitCode };
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 409) throw lostSandbox(sandboxId, error);
    throw engineError(error, { operation: "exec", subject: `container ${container}`, sandboxId });
  }
}

export function lostSandbox(sandboxId: string, cause?: unknown): SandboxError {
  const message = `the container of sandbox ${sandboxId} no longer runs: create a new sandbox`;
  return new SandboxError("SANDBOX_LOST", message, { provider: providerName, operation: "exec", sandboxId, cause });
}
