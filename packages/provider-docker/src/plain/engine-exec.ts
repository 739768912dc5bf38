import { type Duplex, finished } from "node:stream";
import { SandboxError } from "@sandkit/core";
import { type OutputSink, type PlainEnding, type PlainExec, type PlainPlace, ProgramMarks } from "@sandkit/core/kit";
import type { ContainerInspectInfo, Exec } from "dockerode";
import type { EngineClient } from "../engine/client.js";
import { startExec } from "../engine/hijack.js";
import { splitStreams } from "../engine/split-streams.js";
import { engineError, providerName, statusOf } from "../errors.js";
import { ownEnvironment } from "../own-environment.js";

/** Where the engine starts programs beside the first one of a container. */
export function containerPlace(engine: EngineClient, inspected: ContainerInspectInfo, sandboxId: string): PlainPlace {
  const { Id: container } = inspected;
  // What programs of ours find their tools by.
  const own = ownEnvironment(inspected);
  const place: PlainPlace = {
    provider: providerName,
    sandboxId,
    marks: new ProgramMarks(),
    async isRunning() {
      const found = await engine.inspect(container).catch(() => undefined);
      return found?.State.Running ?? false;
    },
    lost: (cause) => lostSandbox(sandboxId, cause),
    async start(command, { env, stdin }) {
      try {
        const exec = await engine.container(container).exec({
          Cmd: [...command],
          Env: [...env, ...own],
          WorkingDir: "/",
          AttachStdin: stdin,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
        });
        return new EngineExec(place, exec, await startExec(engine.dockerode, exec.id));
      } catch (error) {
        const status = statusOf(error);
        if (status === 404 || status === 409) throw lostSandbox(sandboxId, error);
        throw engineError(error, { operation: "exec", subject: `container ${container}`, sandboxId });
      }
    },
  };
  return place;
}

/** A program that the engine has started in a container, with its streams as the engine frames them. */
class EngineExec implements PlainExec {
  readonly closed: Promise<void>;
  readonly #place: PlainPlace;
  readonly #exec: Exec;
  readonly #streams: Duplex;

  constructor(place: PlainPlace, exec: Exec, streams: Duplex) {
    this.#place = place;
    this.#exec = exec;
    this.#streams = streams;
    this.closed = new Promise<void>((resolve) => {
      finished(streams, { writable: false }, () => resolve());
    });
  }

  get held(): boolean {
    return this.#streams.isPaused() && !this.#streams.destroyed;
  }

  listen(sink: OutputSink): void {
    splitStreams(this.#streams, sink);
  }

  resume(): void {
    this.#streams.resume();
  }

  async write(data: Uint8Array): Promise<void> {
    const streams = this.#streams;
    if (streams.writableEnded || streams.destroyed) return;
    await new Promise<void>((resolve) => {
      // An error says that the program no longer reads, which is told by its end.
      streams.write(data, () => resolve());
      this.closed.then(resolve);
    });
  }

  end(): void {
    this.#streams.end();
  }

  destroy(): void {
    this.#streams.destroy();
  }

  async ending(): Promise<PlainEnding> {
    const code = (await this.#exec.inspect().catch(() => undefined))?.ExitCode ?? null;
    if (await this.#place.isRunning()) return { complete: true, code, failure: undefined };
    return { complete: false, code: null, failure: this.#place.lost() };
  }
}

export function lostSandbox(sandboxId: string, cause?: unknown): SandboxError {
  const message = `the container of sandbox ${sandboxId} no longer runs: create a new sandbox`;
  return new SandboxError("SANDBOX_LOST", message, { provider: providerName, operation: "exec", sandboxId, cause });
}
