import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import Dockerode from "dockerode";
import { engine } from "./engine.js";

/** Whether this machine can run an engine of the test's own. */
export const secondEngineIsPossible = process.getuid?.() === 0 && existsSync("/usr/sbin/dockerd");

/** A Docker engine of the test's own, in a network namespace of its own: beside another it would take that one's bridge. */
export class SecondEngine {
  readonly #folder: string;
  #daemon: ChildProcess | undefined;

  /** @param settings Of its `daemon.json`. */
  static async start(settings: object = {}): Promise<SecondEngine> {
    const second = new SecondEngine(await mkdtemp(join(tmpdir(), "sandkit-engine-")));
    await writeFile(`${second.#folder}/daemon.json`, JSON.stringify(settings));
    await second.start();
    return second;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  get host(): string {
    return `unix://${this.#folder}/docker.sock`;
  }

  get dockerode(): Dockerode {
    return new Dockerode({ socketPath: `${this.#folder}/docker.sock` });
  }

  async start(): Promise<void> {
    const folder = this.#folder;
    const paths = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`];
    const config = `--config-file=${folder}/daemon.json`;
    const log = `exec dockerd --host=${this.host} ${paths.join(" ")} ${config} --bridge=none --iptables=false >>${folder}/log 2>&1`;
    this.#daemon = spawn("unshare", ["-n", "sh", "-c", log], { stdio: "ignore", detached: true });
    for (let round = 0; round < 300; round++) {
      if (this.#daemon.exitCode !== null) break;
      if (await this.#answers()) return;
      await setTimeout(100);
    }
    throw new Error(`the second engine does not answer:\n${(await readFile(`${folder}/log`, "utf8")).slice(-2_000)}`);
  }

  /** Gives it an image of the usual engine. */
  async load(image: string): Promise<void> {
    const loading = await this.dockerode.loadImage(await engine.getImage(image).get());
    for await (const _ of loading);
  }

  /** Ends it, and with it the containers that it runs. */
  async stop(): Promise<void> {
    const daemon = this.#daemon;
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill();
    await once(daemon, "exit");
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
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
