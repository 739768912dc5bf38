import type { Duplex } from "node:stream";
import { SandboxError } from "@sandkit/core";
import type Dockerode from "dockerode";
import { engineError, onEngine, providerName, statusOf, wordsOf } from "../errors.js";
import { type EngineAddress, engineAddresses, here } from "./discover.js";
import { attachContainer, startExec } from "./hijack.js";
import { quietly } from "./quietly.js";

/** How long an engine may take to say that it is there, in milliseconds. */
const pingTimeoutMs = 2_000;
/** An engine that answered this recently, in milliseconds, is not asked again whether it is there. */
const trustedMs = 1_000;

/** What an engine says of itself that matters here. */
export interface EngineFacts {
  readonly version: string;
  readonly processors: number;
  readonly runtimes: readonly string[];
  /** Of `name=seccomp`, `name=rootless`, `name=userns`: the names. */
  readonly security: readonly string[];
  readonly cgroupVersion: string;
}

/** How the engine is found. */
export interface EngineOptions {
  readonly host?: string | undefined;
  readonly dockerode?: Dockerode | Dockerode.DockerOptions | undefined;
}

/** One engine: what is asked of it, and the streams that it gives. */
export class EngineClient {
  readonly dockerode: Dockerode;
  /** Where it listens, for people. */
  readonly place: string;
  #facts: Promise<EngineFacts> | undefined;
  #seenAt = performance.now();
  #background: EngineClient | undefined;

  constructor(dockerode: Dockerode, place: string) {
    this.dockerode = dockerode;
    this.place = place;
  }

  /** @throws SandboxError `UNAVAILABLE` within 2 s when nobody answers */
  async ping(): Promise<void> {
    if (performance.now() - this.#seenAt < trustedMs) return;
    try {
      await pingWithin(this.dockerode, pingTimeoutMs);
      this.#seenAt = performance.now();
    } catch (error) {
      this.#facts = undefined;
      throw engineError(error, { operation: "connect", subject: this.place });
    }
  }

  /** Asked once: the engine starts programs of its own to answer. */
  facts(): Promise<EngineFacts> {
    this.#facts ??= onEngine({ operation: "info", subject: this.place }, () => this.#ask()).catch((error) => {
      this.#facts = undefined;
      throw error;
    });
    return this.#facts;
  }

  /** The same engine, through connections that keep no program alive: for work that nobody waits for. */
  inBackground(): EngineClient {
    this.#background ??= new EngineClient(quietly(this.dockerode), this.place);
    return this.#background;
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

  async #ask(): Promise<EngineFacts> {
    const info: Partial<Record<string, unknown>> = await this.dockerode.info();
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    return {
      version: text(info.ServerVersion),
      processors: typeof info.NCPU === "number" && info.NCPU > 0 ? info.NCPU : 1,
      runtimes: Object.keys(info.Runtimes ?? {}),
      security: (Array.isArray(info.SecurityOptions) ? info.SecurityOptions.map(String) : []).map(
        (option) => option.match(/name=([^,]+)/)?.[1] ?? option,
      ),
      cgroupVersion: text(info.CgroupVersion) || "1",
    };
  }
}

/** Finds the engine at first use, and again when the one found has gone. */
export class EngineConnector {
  readonly #options: EngineOptions;
  #client: Promise<EngineClient> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * An engine that answers.
   * @throws SandboxError `UNAVAILABLE` within 2 s, with all places that were tried and what to do
   */
  async connect(): Promise<EngineClient> {
    this.#client ??= findEngine(this.#options);
    const attempt = this.#client;
    try {
      const client = await attempt;
      await client.ping();
      return client;
    } catch (error) {
      // The next call looks around again: the engine may have been started meanwhile, elsewhere too.
      if (this.#client === attempt) this.#client = undefined;
      throw error;
    }
  }
}

async function findEngine({ host, dockerode: given }: EngineOptions): Promise<EngineClient> {
  if (given && "getContainer" in given) {
    const failure = await attempt(given);
    if (failure === undefined) return new EngineClient(given, 'option "dockerode"');
    throw unavailable([`option "dockerode": ${failure}`]);
  }
  // Loading dockerode takes a tenth of a second and 20 MB: only who uses an engine pays for it.
  const { default: Dockerode } = await import("dockerode");
  const places: EngineAddress[] = given
    ? [{ source: 'option "dockerode"', url: given.socketPath?.toString() ?? given.host ?? "", connection: given }]
    : await engineAddresses(host, here());
  const tried: string[] = [];
  for (const { source, url, connection } of places) {
    const dockerode = new Dockerode(connection);
    const failure = await attempt(dockerode);
    if (failure === undefined) return new EngineClient(dockerode, url);
    tried.push(`${source} at ${url}: ${failure}`);
  }
  throw unavailable(tried);
}

/** Why nobody answers; undefined when somebody does. */
async function attempt(dockerode: Dockerode): Promise<string | undefined> {
  try {
    await pingWithin(dockerode, pingTimeoutMs);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT") return "nothing is there";
    if (code === "ECONNREFUSED") return "nobody listens";
    if (code === "EACCES") return mayNot;
    if (code === "ABORT_ERR") return `no answer within ${pingTimeoutMs / 1000} s`;
    return wordsOf(error);
  }
}

async function pingWithin(dockerode: Dockerode, timeoutMs: number): Promise<void> {
  // It takes options that its types do not know.
  const ping: (options: { readonly abortSignal: AbortSignal }) => Promise<unknown> = dockerode.ping.bind(dockerode);
  await ping({ abortSignal: AbortSignal.timeout(timeoutMs) });
}

const mayNot = "this user may not connect";

/** What stands in the way goes first: an engine that is there and closed, before the places where there is none. */
function unavailable(tried: readonly string[]): SandboxError {
  const closed = tried.filter((place) => place.endsWith(mayNot));
  const next =
    closed.length > 0
      ? "let it: sudo usermod -aG docker $USER, then log in again"
      : `start Docker, Podman (podman system service) or Colima; or say where it listens, by DOCKER_HOST or the option "host"`;
  const places = [...closed, ...tried.filter((place) => !closed.includes(place))].join("; ");
  return new SandboxError("UNAVAILABLE", `no container engine answers (${places}): ${next}`, {
    provider: providerName,
    operation: "connect",
  });
}
