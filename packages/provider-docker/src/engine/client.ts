import type { Duplex } from "node:stream";
import type Dockerode from "dockerode";
import { engineError, onEngine, statusOf } from "../errors.js";
import { askFacts, type EngineFacts } from "./facts.js";
import { attachContainer, startExec } from "./hijack.js";
import { type EngineIdentity, identify } from "./identity.js";
import { PodmanDialect } from "./podman.js";
import { quietly } from "./quietly.js";

/** How long an engine may take to say that it is there, in milliseconds. */
const pingTimeoutMs = 2_000;
/** An engine that answered this recently, in milliseconds, is not asked again whether it is there. */
const trustedMs = 1_000;

/** One engine: what is asked of it, and the streams that it gives. */
export class EngineClient {
  readonly dockerode: Dockerode;
  /** Where it listens, for people. */
  readonly place: string;
  readonly identity: EngineIdentity;
  readonly #podman: PodmanDialect | undefined;
  #facts: Promise<EngineFacts> | undefined;
  #seenAt = performance.now();
  #pinging: Promise<void> | undefined;
  #background: EngineClient | undefined;

  constructor(dockerode: Dockerode, place: string, identity: EngineIdentity) {
    this.dockerode = dockerode;
    this.place = place;
    this.identity = identity;
    const isRootless = async () => (await this.facts()).security.includes("rootless");
    this.#podman = identity.product === "Podman" ? new PodmanDialect(dockerode, isRootless) : undefined;
  }

  /** @throws SandboxError `UNAVAILABLE` within 2 s when nobody answers */
  async ping(): Promise<void> {
    if (performance.now() - this.#seenAt < trustedMs) return;
    // Who asks while it is asked hears the same.
    this.#pinging ??= this.#ping().finally(() => (this.#pinging = undefined));
    await this.#pinging;
  }

  async #ping(): Promise<void> {
    try {
      await identify(this.dockerode, AbortSignal.timeout(pingTimeoutMs));
      this.#seenAt = performance.now();
    } catch (error) {
      this.#facts = undefined;
      throw engineError(error, { operation: "connect", subject: this.place });
    }
  }

  /** Asked once: the engine starts programs of its own to answer. */
  facts(): Promise<EngineFacts> {
    this.#facts ??= onEngine({ operation: "info", subject: this.place }, () => askFacts(this.dockerode)).catch(
      (error) => {
        this.#facts = undefined;
        throw error;
      },
    );
    return this.#facts;
  }

  /** The same engine, through connections that keep no program alive: for work that nobody waits for. */
  inBackground(): EngineClient {
    this.#background ??= new EngineClient(quietly(this.dockerode), this.place, this.identity);
    return this.#background;
  }

  /** Makes a container, with the options in the words of this engine. */
  async create(options: Dockerode.ContainerCreateOptions): Promise<Dockerode.Container> {
    const told = { ...(this.#podman ? await this.#podman.translate(options) : options) };
    // Else dockerode writes all of it, values of `env` too, into the address as well. Hidden, as a user's own client may
    // pass on a copy with other options: that is still what is made.
    Object.defineProperty(told, "_query", { value: { name: told.name } });
    return this.dockerode.createContainer(told);
  }

  /** Takes an image its name, and with that the image, which the engine keeps for containers that have it. */
  async removeImageName(name: string): Promise<void> {
    if (this.#podman) await this.#podman.removeName(name);
    else await this.dockerode.getImage(name).remove({ force: true });
  }

  container(name: string): Dockerode.Container {
    return this.dockerode.getContainer(name);
  }

  /** The streams of a container, as the engine frames them. */
  attach(container: string): Promise<Duplex> {
    return attachContainer(this.dockerode, container);
  }

  /** Runs a program in a running container, and gives its streams as the engine frames them. */
  async exec(container: string, options: Dockerode.ExecCreateOptions): Promise<Duplex> {
    const exec = await this.container(container).exec({
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      ...options,
    });
    return startExec(this.dockerode, exec.id);
  }

  /** What is known of a container; undefined when there is none. */
  async inspect(name: string): Promise<Dockerode.ContainerInspectInfo | undefined> {
    try {
      return await this.container(name).inspect();
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw engineError(error, { operation: "inspect", subject: `container ${name}` });
    }
  }
}
