import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import Dockerode from "dockerode";
import { engine } from "./engine.js";

/** An engine that a test has started: its program, its log, and its socket, in a folder of the test's own. */
export class OwnEngine {
  readonly folder: string;
  #program: ChildProcess | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  get host(): string {
    return `unix://${this.#socketPath}`;
  }

  get dockerode(): Dockerode {
    return new Dockerode({ socketPath: this.#socketPath });
  }

  get #socketPath(): string {
    return `${this.folder}/engine.sock`;
  }

  /** Starts it in namespaces of its own, as options of `unshare` and a command, and waits until it answers. */
  async start(command: readonly string[]): Promise<void> {
    const log = openSync(`${this.folder}/log`, "a");
    // In its folder: Podman's monitors leave an empty file "oom" where they are when memory has run out.
    this.#program = spawn("unshare", command, { cwd: this.folder, stdio: ["ignore", log, log], detached: true });
    closeSync(log);
    for (let round = 0; round < 300; round++) {
      if (this.#program.exitCode !== null) break;
      if (await this.#answers()) return;
      await setTimeout(100);
    }
    const said = (await readFile(`${this.folder}/log`, "utf8")).slice(-2_000);
    throw new Error(`${command.join(" ")} does not answer:\n${said}`);
  }

  /** Gives it an image of the usual engine. */
  async load(image: string): Promise<void> {
    const loading = await this.dockerode.loadImage(await engine.getImage(image).get());
    for await (const _ of loading);
  }

  async stop(): Promise<void> {
    const program = this.#program;
    if (!program || program.exitCode !== null || program.signalCode !== null) return;
    program.kill();
    await once(program, "exit");
  }

  async #answers(): Promise<boolean> {
    try {
      await this.dockerode.ping();
      return true;
    } catch (error) {
      if (error instanceof Error) return false;
      throw error;
    }
  }
}
