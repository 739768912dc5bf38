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

/** What a search for an engine has found. */
export interface Search {
  /** The engine; undefined: none answers anywhere. */
  readonly client?: EngineClient;
  /** Where it is. */
  readonly source?: string;
  /** Better places, where none answers. */
  readonly tried: readonly TriedPlace[];
}

/** How long an engine may take to say that it is there, in milliseconds: a socket; a machine that ssh has to log into. */
const patienceMs = { near: 2_000, ssh: 15_000 };

/** What to do when no engine answers, the best first. */
export function remedies(tried: readonly TriedPlace[]): string[] {
  const known = [...new Set(tried.flatMap(({ fix }) => fix ?? []))];
  if (known.length > 0) return known;
  const say = 'say where it listens, by DOCKER_HOST or the option "host"';
  const only = tried.length === 1 ? `; now it is ${tried[0]?.source}` : "";
  return ["start Docker, Podman (podman system service) or Colima", say + only];
}

/** Where one of the usual places answers, though another was chosen and does not; undefined: nowhere. */
export async function findElsewhere({ host, dockerode }: EngineOptions): Promise<string | undefined> {
  const { env, ...around } = here();
  const chosen = dockerode
    ? undefined
    : host !== undefined
      ? 'option "host"'
      : env.DOCKER_HOST
        ? "DOCKER_HOST"
        : undefined;
  if (chosen === undefined) return undefined;
  const { DOCKER_HOST: _, ...usual } = env;
  const { client } = await searchIn(await engineAddresses(undefined, { ...around, env: usual }));
  return client && `leave out ${chosen}: without it the one at ${client.place} is found`;
}

/** The error of a search that was in vain. */
export function noEngine(tried: readonly TriedPlace[]): SandboxError {
  const places = tried.map(({ source, url, why }) => `${source}${url ? ` at ${url}` : ""}: ${why}`).join("; ");
  const next = remedies(tried).join("; or ");
  return new SandboxError("UNAVAILABLE", `no container engine answers (${places}): ${next}`, {
    provider: providerName,
    operation: "connect",
  });
}

/**
 * Looks for an engine where one may be.
 * @throws SandboxError `INVALID` for an address that is none
 */
export async function findEngine({ host, dockerode: given }: EngineOptions): Promise<Search> {
  return searchIn(given ? [givenAddress(given)] : await engineAddresses(host, here()), given);
}

async function searchIn(places: readonly EngineAddress[], given?: EngineOptions["dockerode"]): Promise<Search> {
  // Loading dockerode takes a tenth of a second and 20 MB: only who uses an engine pays for it.
  const { default: Docker } = await import("dockerode");
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
  // What is there and closed goes first: until it is mended, places where there is nothing do not matter.
  return { tried: [...tried.filter(({ fix }) => fix), ...tried.filter(({ fix }) => !fix)] };
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
