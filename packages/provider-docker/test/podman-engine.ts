import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import Dockerode from "dockerode";
import { engine, engineIsThere } from "./engine.js";

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
  readonly #folder: string;
  #service: ChildProcess | undefined;

  static async start(images: readonly string[]): Promise<PodmanEngine> {
    const podman = new PodmanEngine(await mkdtemp(join(tmpdir(), "sandkit-podman-")));
    await podman.start();
    for (const image of images) await podman.#copy(image);
    return podman;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  get host(): string {
    return `unix://${this.#folder}/podman.sock`;
  }

  get dockerode(): Dockerode {
    return new Dockerode({ socketPath: `${this.#folder}/podman.sock` });
  }

  async start(): Promise<void> {
    const folder = this.#folder;
    const places = ["--root", `${folder}/root`, "--runroot", `${folder}/run`, "--tmpdir", `${folder}/tmp`];
    const means = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file"];
    const service = ["podman", ...places, ...means, "system", "service", "--time", "0", this.host];
    await mkdir(`${folder}/root`, { recursive: true });
    // Images in memory: on a disk unpacking one waits for it. What is mounted ends with the processes started here.
    const mounted = ["--mount", "sh", "-c", `mount -t tmpfs -o size=2g tmpfs ${folder}/root && exec "$@"`, "sh"];
    const log = openSync(`${folder}/log`, "a");
    // Its monitors leave a file "oom" in their working directory, which is this one.
    this.#service = spawn("unshare", [...mounted, ...service], {
      // Where its monitors leave an empty file "oom" when memory has run out.
      cwd: folder,
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    for (let round = 0; round < 300; round++) {
      if (this.#service.exitCode !== null) break;
      if (await this.#answers()) return;
      await setTimeout(100);
    }
    throw new Error(`Podman does not answer:\n${(await readFile(`${folder}/log`, "utf8")).slice(-2_000)}`);
  }

  /** Ends the service; containers of Podman live on without one. */
  async stop(): Promise<void> {
    const service = this.#service;
    if (!service || service.exitCode !== null || service.signalCode !== null) return;
    service.kill();
    await once(service, "exit");
  }

  async remove(): Promise<void> {
    const containers = await this.dockerode.listContainers({ all: true });
    for (const { Id } of containers) await this.dockerode.getContainer(Id).remove({ force: true });
    await this.stop();
    // What clears up after a container is a program of its own, which would make the folder once more.
    for (let round = 0; round < 200 && (await this.#isAtWork()); round++) await setTimeout(50);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #copy(image: string): Promise<void> {
    const loading = await this.dockerode.loadImage(await engine.getImage(image).get());
    for await (const _ of loading);
  }

  /** Whether any process has this folder on its command line. */
  async #isAtWork(): Promise<boolean> {
    const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const commands = await Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
    return commands.some((command) => command.includes(this.#folder));
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
