import type { Duplex } from "node:stream";
import { type CreateOptions, createSandbox, type Files, type Provider, type Sandbox } from "@sandkit/core";
import { boxConnection } from "./box-connection.js";
import { BoxProcess, type BoxProgram } from "./box-process.js";
import { BoxWatch } from "./box-watch.js";
import { guestCommand } from "./guest-program.js";

/** The helper's own words on stderr are all that is kept: what programs write goes through frames. */
const keptBytes = 4_096;

/** One machine of an emulated cloud: a Sandkit sandbox, and the processes that were started in it. */
export class EmulatedBox {
  /** Absolute; where programs start and relative paths resolve: the home of the cloud's user. */
  readonly home: string;
  readonly sandbox: Sandbox;
  readonly #processes = new Set<BoxProcess>();
  #frozen = false;
  #gone = false;

  /** Makes one; `home` is the folder of that snapshot, where it starts from one. */
  static async create(provider: Provider, options: CreateOptions, home?: Uint8Array): Promise<EmulatedBox> {
    const sandbox = await createSandbox(provider, options);
    const box = new EmulatedBox(sandbox);
    try {
      if (home) await box.restore(home);
      return box;
    } catch (error) {
      await box.destroy();
      throw error;
    }
  }

  private constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
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
    const env = { HOME: this.home };
    const options = { env, cwd: this.home, maxOutputBytes: keptBytes };
    const helper = await this.sandbox.spawn(await guestCommand("program"), options);
    const process = await BoxProcess.start(helper, program);
    this.#processes.add(process);
    return process;
  }

  /** Stops every process where it is. */
  async freeze(): Promise<void> {
    this.#frozen = true;
    await this.#signalAll("SIGSTOP");
  }

  /** Lets the stopped ones go on. */
  async thaw(): Promise<void> {
    await this.#signalAll("SIGCONT");
    this.#frozen = false;
  }

  /** Ends every process; the files stay. */
  async killAll(): Promise<void> {
    await this.#signalAll("SIGKILL");
    this.#processes.clear();
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
    const command = await guestCommand("watch", path, recursive ? "recursive" : "flat");
    return BoxWatch.start(await this.sandbox.spawn(command, { maxOutputBytes: keptBytes }));
  }

  /** A connection to a server in the box; null when nothing listens on that port. */
  async connect(port: number): Promise<Duplex | null> {
    const command = await guestCommand("port", String(port));
    return boxConnection(await this.sandbox.spawn(command, { maxOutputBytes: keptBytes }));
  }

  /** Ends the box and everything in it. Idempotent. */
  async destroy(): Promise<void> {
    this.#gone = true;
    await this.sandbox.destroy();
  }

  /** One that has left nobody behind ignores it. */
  async #signalAll(name: NodeJS.Signals): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.signalTree(name)));
  }
}
