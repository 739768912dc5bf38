import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Dockerode from "dockerode";
import { OwnEngine } from "./own-engine.js";

/** Whether this machine can run an engine of the test's own. */
export const secondEngineIsPossible = process.getuid?.() === 0 && existsSync("/usr/sbin/dockerd");

/** A Docker engine of the test's own, in a network namespace of its own: beside another it would take that one's bridge. */
export class SecondEngine {
  readonly #own: OwnEngine;

  /** @param settings Of its `daemon.json`. */
  static async start(settings: object = {}): Promise<SecondEngine> {
    const second = new SecondEngine(new OwnEngine(await mkdtemp(join(tmpdir(), "sandkit-engine-"))));
    await writeFile(`${second.#own.folder}/daemon.json`, JSON.stringify(settings));
    await second.start();
    return second;
  }

  private constructor(own: OwnEngine) {
    this.#own = own;
  }

  get host(): string {
    return this.#own.host;
  }

  get dockerode(): Dockerode {
    return this.#own.dockerode;
  }

  async start(): Promise<void> {
    const { folder, host } = this.#own;
    const paths = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`];
    const settings = [`--config-file=${folder}/daemon.json`, "--bridge=none", "--iptables=false"];
    await this.#own.start(["-n", "dockerd", `--host=${host}`, ...paths, ...settings]);
  }

  /** Gives it an image of the usual engine. */
  async load(image: string): Promise<void> {
    await this.#own.load(image);
  }

  /** Ends it, and with it the containers that it runs. */
  async stop(): Promise<void> {
    await this.#own.stop();
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#own.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
