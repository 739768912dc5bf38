import type { Duplex } from "node:stream";
import { type CreateOptions, createSandbox, type Files, type Provider, type Sandbox } from "@sandkit/core";
import { boxConnection } from "./box-connection.js";
import { type BoxProcess, type BoxProgram, HelperProcess } from "./box-process.js";
import { BoxWatch } from "./box-watch.js";
import { type ContainerBox, containerOf } from "./container.js";
import { ContainerProcess, killInContainer } from "./container-process.js";
import type { HelperName } from "./guest-program.js";
import type { Helper } from "./helper.js";
import { Helpers } from "./helpers.js";

/** One machine of an emulated cloud: a Sandkit sandbox, and the processes that were started in it. */
export class EmulatedBox {
  /** Absolute; where programs start and relative paths resolve: the home of the cloud's user. */
  readonly home: string;
  readonly sandbox: Sandbox;
  /** The best one that there is. */
  readonly shell: string;
  /** Set where there is no Python: what is started is started by the engine then. */
  readonly #container: ContainerBox | undefined;
  /** Programs start below the last; what a program did to one that came before has left some below that. */
  #helpers: Helpers[] = [];
  #starting: Promise<Helpers> | undefined;
  #frozen = false;
  #gone = false;

  /** Makes one; `home` is the folder of that snapshot, where it starts from one. */
  static async create(provider: Provider, options: CreateOptions, home?: Uint8Array): Promise<EmulatedBox> {
    const sandbox = await createSandbox(provider, options);
    const { shells, interpreters } = await sandbox.info();
    const container = interpreters.includes("python3") ? undefined : await containerOf(sandbox);
    const box = new EmulatedBox(sandbox, shells.includes("bash") ? "bash" : "sh", container);
    try {
      await Promise.all([box.#container ? undefined : box.#start(), home && box.restore(home)]);
      return box;
    } catch (error) {
      await box.destroy();
      throw error;
    }
  }

  private constructor(sandbox: Sandbox, shell: string, container: ContainerBox | undefined) {
    this.sandbox = sandbox;
    this.shell = shell;
    this.#container = container;
    this.home = sandbox.workdir;
  }

  get files(): Files {
    return this.sandbox.files;
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Starts a program. @throws BoxStartError when it cannot be started */
  async start(program: BoxProgram): Promise<BoxProcess> {
    if (this.#container) return ContainerProcess.start(this.#container, program);
    return HelperProcess.start(await this.#helper("program"), program);
  }

  /** Stops every process where it is. */
  async freeze(): Promise<void> {
    this.#frozen = true;
    if (this.#container) await this.#container.container.pause();
    else await this.#signalAll("SIGSTOP");
  }

  /** Lets the stopped ones go on. */
  async thaw(): Promise<void> {
    if (this.#container) await this.#container.container.unpause();
    else await this.#signalAll("SIGCONT");
    this.#frozen = false;
  }

  /** Ends every process; the files stay. */
  async killAll(): Promise<void> {
    if (this.#container) await killInContainer(this.#container);
    else await this.#signalAll("SIGKILL");
    this.#helpers = [];
    this.#frozen = false;
  }

  /** The home folder as a tar archive. */
  async save(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await this.files.exportTar(this.home)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Unpacks a saved home folder over this one's. */
  async restore(home: Uint8Array): Promise<void> {
    await this.files.importTar(new Blob([home]).stream(), this.home);
  }

  /** Changes in a directory, also below it if asked for, from when it resolves on. */
  async watch(path: string, recursive: boolean): Promise<BoxWatch> {
    return BoxWatch.start(await this.#helper("watch", path, recursive ? "recursive" : "flat"));
  }

  /** A connection to a server in the box; null when nothing listens on that port. */
  async connect(port: number): Promise<Duplex | null> {
    return boxConnection(await this.#helper("port", String(port)));
  }

  /** Ends the box and everything in it. Idempotent. */
  async destroy(): Promise<void> {
    this.#gone = true;
    await this.sandbox.destroy();
  }

  /** A program of `guest/`. They have one parent, which is started again if a program of the box has ended it. */
  async #helper(name: HelperName, ...args: readonly string[]): Promise<Helper> {
    return (await this.#start()).open(name, ...args);
  }

  async #start(): Promise<Helpers> {
    const last = this.#helpers.at(-1);
    if (last && !last.over) return last;
    this.#starting ??= Helpers.start(this.sandbox)
      .then((helpers) => {
        this.#helpers.push(helpers);
        return helpers;
      })
      .finally(() => {
        this.#starting = undefined;
      });
    return this.#starting;
  }

  async #signalAll(name: NodeJS.Signals): Promise<void> {
    await Promise.all(this.#helpers.map((helpers) => helpers.signal(name)));
  }
}
