import type { Agent } from "node:http";
import { SandboxError } from "@sandkit/core";
import type Dockerode from "dockerode";
import { providerName } from "../errors.js";
import type { EngineAddress } from "./address.js";
import { EngineClient } from "./client.js";
import { engineAddresses, here } from "./discover.js";
import { identify } from "./identity.js";
import { type NoAnswer, noAnswer } from "./no-answer.js";
import { sshAgent } from "./ssh-agent.js";

/** How the engine is found. */
export interface EngineOptions {
  readonly host?: string | undefined;
  readonly dockerode?: Dockerode | Dockerode.DockerOptions | undefined;
}

/** A place that was tried in vain. */
export interface TriedPlace extends NoAnswer {
  readonly source: string;
  readonly url: string;
}

/** An engine that answers, and the better places where none does. */
export interface FoundEngine {
  readonly client: EngineClient;
  readonly source: string;
  readonly tried: readonly TriedPlace[];
}

/** How long an engine may take to say that it is there, in milliseconds: a socket; a machine that ssh has to log into. */
const patienceMs = { near: 2_000, ssh: 15_000 };

/** No engine answers anywhere. */
export class NoEngine extends SandboxError {
  readonly tried: readonly TriedPlace[];
  /** What to do about it, the best first. */
  readonly fix: readonly string[];

  constructor(tried: readonly TriedPlace[]) {
    // What is there and closed goes first: before it can be mended, the places where there is nothing do not matter.
    const sorted = [...tried.filter(({ fix }) => fix), ...tried.filter(({ fix }) => !fix)];
    const chosen = tried.length === 1;
    const start = "start Docker, Podman (podman system service) or Colima";
    const say = 'say where it listens, by DOCKER_HOST or the option "host"';
    const known = [...new Set(sorted.flatMap(({ fix }) => fix ?? []))];
    const fix = known.length > 0 ? known : [start, chosen ? `${say}; now it is ${tried[0]?.source}` : say];
    const places = sorted.map(({ source, url, why }) => `${source}${url ? ` at ${url}` : ""}: ${why}`).join("; ");
    super("UNAVAILABLE", `no container engine answers (${places}): ${fix.join("; or ")}`, {
      provider: providerName,
      operation: "connect",
    });
    this.tried = sorted;
    this.fix = fix;
  }
}

/**
 * Looks for an engine where one may be.
 * @throws NoEngine with all places that were tried; SandboxError `INVALID` for an address that is none
 */
export async function findEngine({ host, dockerode: given }: EngineOptions): Promise<FoundEngine> {
  // Loading dockerode takes a tenth of a second and 20 MB: only who uses an engine pays for it.
  const { default: Docker } = await import("dockerode");
  const places: EngineAddress[] = given ? [givenAddress(given)] : await engineAddresses(host, here());
  const tried: TriedPlace[] = [];
  for (const address of places) {
    const { source, url } = address;
    const patience = address.ssh ? patienceMs.ssh : patienceMs.near;
    try {
      const dockerode = given && "getContainer" in given ? given : new Docker(connectionOf(address));
      const identity = await identify(dockerode, AbortSignal.timeout(patience));
      return { client: new EngineClient(dockerode, url || source, identity), source, tried };
    } catch (error) {
      tried.push({ source, url, ...(await noAnswer(address, error, patience)) });
    }
  }
  throw new NoEngine(tried);
}

function givenAddress(given: Dockerode | Dockerode.DockerOptions): EngineAddress {
  const source = 'option "dockerode"';
  if ("getContainer" in given) return { source, url: "" };
  const { socketPath, protocol = "http", host, port } = given;
  const url = typeof socketPath === "string" ? `unix://${socketPath}` : host ? `${protocol}://${host}:${port}` : "";
  return { source, url, connection: given };
}

function connectionOf({ connection, ssh }: EngineAddress): Dockerode.DockerOptions {
  if (!ssh) return connection ?? {};
  // The name is for the Host header alone: the agent knows where to connect. The types do not know of it.
  const options: Dockerode.DockerOptions & { readonly agent: Agent } = {
    host: "engine",
    port: 80,
    protocol: "http",
    agent: sshAgent(ssh),
  };
  return options;
}
