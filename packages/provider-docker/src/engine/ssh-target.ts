import { refusal } from "../errors.js";

/** A machine that is reached over ssh, with an engine on it. */
export interface SshTarget {
  /** As ssh takes it: a name, an address, or an entry of its config. */
  readonly host: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  /** Socket of the engine there; undefined: where its own command line finds it. */
  readonly socket?: string | undefined;
}

/**
 * Reads `ssh://[user@]host[:port][/path/of/the/socket]`.
 * @throws SandboxError `INVALID` for what is none, or names a password
 */
export function parseSshTarget(source: string, text: string): SshTarget {
  const bad = (why: string) => refusal("INVALID", `${source} ${JSON.stringify(text)}: ${why}`, "connect");
  if (!URL.canParse(text)) throw bad("must be like ssh://user@host or ssh://user@host:22/run/docker.sock");
  const { hostname, username, password, port, pathname, search, hash } = new URL(text);
  if (password) throw bad("ssh takes no password from here: leave it out and let ssh use a key");
  if (hostname === "" || search || hash) throw bad("must be like ssh://user@host");
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const user = username ? decodeURIComponent(username) : undefined;
  // A ProxyCommand of ssh's own config is given both, by a shell.
  if (!/^[\w.:-]+$/.test(host)) throw bad("a host has letters, digits and .:-_ alone");
  if (user !== undefined && !/^[\w.@+\\-]+$/.test(user)) throw bad("a user has letters, digits and .@+\\-_ alone");
  // The path goes through the shell of the other machine.
  if (!/^[\w./-]*$/.test(pathname)) throw bad("the path of a socket may have letters, digits and ./-_ alone");
  return {
    host,
    user,
    port: port ? Number(port) : undefined,
    socket: pathname.length > 1 ? pathname : undefined,
  };
}

/** The arguments of ssh that lead to the engine, as bytes on its standard input and output. */
export function sshArguments({ host, user, port, socket }: SshTarget): string[] {
  const docker = socket ? `docker --host unix://${socket}` : "docker";
  const podman = socket ? `podman --url unix://${socket}` : "podman";
  const remote = `if command -v docker >/dev/null; then exec ${docker} system dial-stdio; else exec ${podman} system dial-stdio; fi`;
  return [
    "-T",
    // Nobody is there to answer a question, and a network that swallows everything must be noticed.
    ...["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15"],
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    "--",
    host,
    // Whatever shell the user has there.
    `sh -c '${remote}'`,
  ];
}
