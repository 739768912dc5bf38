import { join } from "node:path";
import type { DockerOptions as DockerodeOptions } from "dockerode";
import { refusal } from "../errors.js";
import { type ClientCertificate, certificateIn } from "./certificates.js";
import { parseSshTarget, type SshTarget } from "./ssh-target.js";

/** A place where an engine may listen. */
export interface EngineAddress {
  /** Who says so: `DOCKER_HOST`, `context "colima"`, `Docker Desktop`. */
  readonly source: string;
  /** In the form of DOCKER_HOST. */
  readonly url: string;
  /** Absent where it is reached over ssh. */
  readonly connection?: DockerodeOptions;
  readonly ssh?: SshTarget;
}

/** How an address over TCP is made secure. */
export interface TlsSettings {
  /** Where `ca.pem`, `cert.pem` and `key.pem` lie; undefined: the certificates that Node trusts, and none of our own. */
  readonly directory?: string | undefined;
  /** Whether all three must be there. */
  readonly strict: boolean;
}

/** What DOCKER_CERT_PATH and DOCKER_TLS_VERIFY ask for; undefined: nothing. */
export function tlsOf(env: Readonly<Record<string, string | undefined>>, config: string): TlsSettings | undefined {
  if (env.DOCKER_CERT_PATH) return { directory: env.DOCKER_CERT_PATH, strict: true };
  return env.DOCKER_TLS_VERIFY ? { directory: config, strict: true } : undefined;
}

/**
 * Reads an address in the form of DOCKER_HOST.
 * @throws SandboxError `INVALID` for what is none, or lacks its certificates
 */
export async function parseAddress(source: string, text: string, tls?: TlsSettings): Promise<EngineAddress> {
  const withScheme = text.includes("://") ? text : `tcp://${text}`;
  const [scheme = "", rest = ""] = withScheme.split("://");
  if (scheme === "unix" || scheme === "npipe") return { source, ...socketAddress(rest) };
  if (scheme === "ssh") return { source, url: withScheme, ssh: parseSshTarget(source, withScheme) };
  if (!["tcp", "http", "https"].includes(scheme) || !URL.canParse(`http://${rest}`)) {
    const forms = "unix:///var/run/docker.sock, tcp://host:2376 or ssh://user@host";
    throw refusal("INVALID", `${source} ${JSON.stringify(text)}: must be like ${forms}`, "connect");
  }
  const { hostname, port } = new URL(`http://${rest}`);
  const secure = scheme === "https" || tls !== undefined || port === "2376";
  const certificate: ClientCertificate = secure && tls?.directory ? await certificateIn(source, tls) : {};
  const connection = {
    host: hostname,
    port: Number(port) || (secure ? 2376 : 2375),
    protocol: secure ? ("https" as const) : ("http" as const),
    ...certificate,
  };
  return { source, url: withScheme, connection };
}

/** An engine's socket, or named pipe, on this machine. */
export function socketAddress(path: string) {
  // `host` is set to nothing, or docker-modem takes the one of DOCKER_HOST beside the socket.
  const connection = { socketPath: path, host: undefined, port: undefined, protocol: "http" as const };
  return { url: `unix://${path}`, connection };
}

/** Docker's folder of settings. */
export function configFolder(env: Readonly<Record<string, string | undefined>>, home: string): string {
  return env.DOCKER_CONFIG || join(home, ".docker");
}
