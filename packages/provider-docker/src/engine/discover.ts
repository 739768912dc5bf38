import { createHash } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { DockerOptions as DockerodeOptions } from "dockerode";
import { refusal } from "../errors.js";

/** A place where an engine may listen. */
export interface EngineAddress {
  /** Who says so: `DOCKER_HOST`, `context "colima"`, `Docker Desktop`. */
  readonly source: string;
  /** In the form of DOCKER_HOST. */
  readonly url: string;
  readonly connection: DockerodeOptions;
}

/** What the search looks at. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export const here = (): Surroundings => ({ env: process.env, home: homedir(), platform: process.platform });

/**
 * Where an engine may be, best first. What was chosen (an option, DOCKER_HOST, a context) is the only place then.
 * @throws SandboxError `INVALID` for an address or context that is none
 */
export async function engineAddresses(host: string | undefined, around: Surroundings): Promise<EngineAddress[]> {
  const { env, home } = around;
  if (host !== undefined) return [await parseAddress('option "host"', host, tlsOf(env))];
  if (env.DOCKER_HOST) return [await parseAddress("DOCKER_HOST", env.DOCKER_HOST, tlsOf(env))];
  const config = env.DOCKER_CONFIG ?? join(home, ".docker");
  const context = env.DOCKER_CONTEXT || (await currentContext(config));
  if (context !== undefined && context !== "default") return [await contextAddress(config, context)];
  return usualPlaces(around).map(([source, path]) => ({ source, ...socketAddress(path) }));
}

function usualPlaces({ env, home, platform }: Surroundings): (readonly [string, string])[] {
  if (platform === "win32") return [["Docker Desktop", "//./pipe/docker_engine"]];
  const runtime = env.XDG_RUNTIME_DIR;
  return [
    ["Docker Desktop", join(home, ".docker/run/docker.sock")],
    ["Docker", "/var/run/docker.sock"],
    ["Colima", join(home, ".colima/default/docker.sock")],
    ["Rancher Desktop", join(home, ".rd/docker.sock")],
    ["OrbStack", join(home, ".orbstack/run/docker.sock")],
    ...(runtime ? ([["rootless Docker", join(runtime, "docker.sock")]] as const) : []),
    ...(runtime ? ([["rootless Podman", join(runtime, "podman/podman.sock")]] as const) : []),
    ["Podman", "/run/podman/podman.sock"],
  ];
}

function socketAddress(path: string) {
  // `host` is set to nothing, or docker-modem takes the one of DOCKER_HOST beside the socket.
  const connection = { socketPath: path, host: undefined, port: undefined, protocol: "http" as const };
  return { url: `unix://${path}`, connection };
}

/** Where the certificates for an engine over TLS lie. */
type Tls = { readonly directory: string } | undefined;

function tlsOf(env: Surroundings["env"]): Tls {
  return env.DOCKER_CERT_PATH ? { directory: env.DOCKER_CERT_PATH } : undefined;
}

async function parseAddress(source: string, text: string, tls: Tls): Promise<EngineAddress> {
  const withScheme = text.includes("://") ? text : `tcp://${text}`;
  const [scheme = "", rest = ""] = withScheme.split("://");
  if (scheme === "unix" || scheme === "npipe") return { source, ...socketAddress(rest) };
  if (scheme === "ssh") {
    const forward = `ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock ${rest}`;
    throw refusal(
      "UNSUPPORTED",
      `${source} ${text}: engines over ssh are reached by a tunnel: run "${forward}" and use unix:///tmp/engine.sock`,
      "connect",
    );
  }
  if (!["tcp", "http", "https"].includes(scheme) || !URL.canParse(`http://${rest}`)) {
    throw refusal(
      "INVALID",
      `${source} ${JSON.stringify(text)}: must be like unix:///var/run/docker.sock or tcp://host:2375`,
      "connect",
    );
  }
  const { hostname, port } = new URL(`http://${rest}`);
  const secure = scheme === "https" || tls !== undefined || port === "2376";
  const certificates = tls && (await certificatesIn(tls.directory));
  return {
    source,
    url: withScheme,
    connection: {
      host: hostname,
      port: Number(port) || (secure ? 2376 : 2375),
      protocol: secure ? "https" : "http",
      ...certificates,
    },
  };
}

async function certificatesIn(directory: string) {
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "cert.pem", "key.pem"].map((name) => readIfThere(join(directory, name))),
  );
  return { ca, cert, key };
}

async function currentContext(config: string): Promise<string | undefined> {
  const path = join(config, "config.json");
  const text = await readIfThere(path);
  return text === undefined ? undefined : readJson<{ currentContext?: string }>(path, text).currentContext;
}

async function contextAddress(config: string, context: string): Promise<EngineAddress> {
  const hash = createHash("sha256").update(context).digest("hex");
  const path = join(config, "contexts/meta", hash, "meta.json");
  const text = await readIfThere(path);
  if (text === undefined) {
    throw refusal(
      "INVALID",
      `the Docker context "${context}" does not exist: choose one of "docker context ls"`,
      "connect",
    );
  }
  const { Endpoints } = readJson<{ Endpoints?: { docker?: { Host?: string } } }>(path, text);
  const host = Endpoints?.docker?.Host;
  if (!host)
    throw refusal("INVALID", `the Docker context "${context}" names no engine: docker context update it`, "connect");
  const directory = join(config, "contexts/tls", hash, "docker");
  const tls = await access(directory).then(
    () => ({ directory }),
    () => undefined,
  );
  return parseAddress(`context "${context}"`, host, tls);
}

function readJson<T>(path: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw refusal("INVALID", `${path} is no JSON: repair it, or give the option "host"`, "connect");
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw refusal(
      "INVALID",
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}): make it readable`,
      "connect",
    );
  }
}
