import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type Dockerode from "dockerode";
import { engineIsThere } from "./engine.js";
import { OwnEngine } from "./own-engine.js";

/** Whether Podman can be tested here. `npm test` installs it where it may, and then it must be there. */
export const podmanIsThere = look();

function look(): boolean {
  const found = process.getuid?.() === 0 && spawnSync("podman", ["--version"]).status === 0;
  if (found && engineIsThere) return true;
  if (process.env.SANDKIT_TEST_PROGRAM_PODMAN === "1") throw new Error("podman was installed and does not start");
  console.warn("SKIPPED: Podman is tested as root, with podman and an engine that has the images.");
  return false;
}

/** Podman's API on a socket of the test's own, with its own images and containers. */
export class PodmanEngine {
  readonly #own: OwnEngine;

  static async start(images: readonly string[]): Promise<PodmanEngine> {
    const podman = new PodmanEngine(new OwnEngine(await mkdtemp(join(tmpdir(), "sandkit-podman-"))));
    await podman.start();
    for (const image of images) await podman.#own.load(image);
    return podman;
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
    const places = ["--root", `${folder}/root`, "--runroot", `${folder}/run`, "--tmpdir", `${folder}/tmp`];
    const means = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file"];
    const service = ["podman", ...places, ...means, "system", "service", "--time", "0", host];
    await mkdir(`${folder}/root`, { recursive: true });
    // Images in memory: on a disk unpacking one waits for it. What is mounted ends with the processes started here.
    const mounted = ["--mount", "sh", "-c", `mount -t tmpfs -o size=2g tmpfs ${folder}/root && exec "$@"`, "sh"];
    await this.#own.start([...mounted, ...service]);
  }

  /** Ends the service; containers of Podman live on without one. */
  async stop(): Promise<void> {
    await this.#own.stop();
  }

  async remove(): Promise<void> {
    const containers = await this.dockerode.listContainers({ all: true });
    for (const { Id } of containers) await this.dockerode.getContainer(Id).remove({ force: true });
    await this.stop();
    // What clears up after a container is a program of its own, which would make the folder once more.
    for (let round = 0; round < 200 && (await this.#isAtWork()); round++) await setTimeout(50);
    await rm(this.#own.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Whether any process has this folder on its command line. */
  async #isAtWork(): Promise<boolean> {
    const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const commands = await Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
    return commands.some((command) => command.includes(this.#own.folder));
  }
}
