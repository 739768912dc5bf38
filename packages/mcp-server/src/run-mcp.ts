import { parseArgs } from "node:util";
import type { Config } from "./config.js";
import { grantSandbox } from "./grant.js";
import { ConfigError, loadConfig } from "./load-config.js";
import { levelOf, log, logLevels, setLogLevel } from "./observability/log.js";
import { serveStdio } from "./stdio.js";
import { version } from "./version.js";

const help = `Usage: sandkit-mcp [stdio|http|grant ID] [options]

  sandkit-mcp                        serve one client over stdin and stdout
  sandkit-mcp http --port 3333       serve over HTTP on this machine, with a token
  sandkit-mcp grant ID --principal NAME
                                     print the sandbox_id by which NAME works in a detached sandbox of another program

Options
  --config FILE      config file; default: SANDKIT_CONFIG, then sandkit/config.json in the user's config folder
  --provider NAME    wasm (default), docker, e2b, daytona or a package; also SANDKIT_PROVIDER
  --deps PACKAGES    packages that every sandbox has, separated by commas, as pip names them; may be repeated
  --host HOST        http: address to bind, default 127.0.0.1; another needs SANDKIT_TOKEN
  --port N           http: default 3333; 0: any that is free
  --allow-host NAME  http: a further name by which clients reach the server; may be repeated
  --principal NAME   grant: the name of a token, or stdio
  --help, --version

Environment
  SANDKIT_TOKEN    http: the token, or several, separated by commas, one for each user (name:token)
  SANDKIT_SECRET   signs ids of sandboxes; default: of the config; http: made from the tokens; stdio: a new one
  LOG_LEVEL        debug, info, warn, error or silent: what is told on stderr; default: http info, stdio warn

Exit codes: 0 ended in order, 1 failed, 2 wrong usage or config.
`;

/** Wrong arguments, to be answered with the way out. */
class UsageError extends Error {}

/**
 * The command line of `sandkit-mcp` and of `sandkit mcp`: serves until the client leaves or a signal comes, and resolves
 * with the exit code. The caller then ends the process.
 * @param argv Without the names of node and of the program: `["http", "--port", "3333"]`.
 */
export async function runMcp(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  // Whoever read what is told has gone; clients are served all the same.
  process.stderr.on("error", () => undefined);
  try {
    const { values, transport, rest } = parse(argv);
    if (values.help) return print(help);
    if (values.version) return print(`${version}\n`);
    setLogLevel(logLevelOf(env.LOG_LEVEL, transport));
    const { config: loaded, path } = await loadConfig({ configPath: values.config, provider: values.provider, env });
    const config = withPackages(loaded, values.deps);
    if (transport === "grant") return print(`${grantIn(config, rest, values.principal, env)}\n`);
    if (transport === "stdio") {
      await serveStdio({ config, configPath: path, secret: env.SANDKIT_SECRET || undefined });
      return 0;
    }
    // Loaded here: a client over stdio should not wait for it.
    const { serveHttp } = await import("./http/listen.js");
    const server = await serveHttp({
      config,
      configPath: path,
      host: values.host,
      port: portOf(values.port),
      token: tokensOf(env.SANDKIT_TOKEN),
      secret: env.SANDKIT_SECRET || undefined,
      allowedHosts: values["allow-host"],
    });
    process.stderr.write(`sandkit-mcp listens at ${server.url}\n`);
    if (!env.SANDKIT_TOKEN && server.token !== undefined) {
      process.stderr.write(`Authorization: Bearer ${server.token}\n`);
    }
    const hurry = new AbortController();
    const signal = await terminated(() => hurry.abort());
    log.info("draining", { signal, drainSeconds: config.http.drainSeconds });
    await server.close(hurry.signal);
    log.info("ended");
    return 0;
  } catch (error) {
    return fail(error);
  }
}

function parse(argv: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: "string" },
        provider: { type: "string" },
        deps: { type: "string", multiple: true },
        host: { type: "string" },
        port: { type: "string" },
        "allow-host": { type: "string", multiple: true },
        principal: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    });
    const [transport = "stdio", ...rest] = positionals;
    const isKnown = transport === "stdio" || transport === "http" || transport === "grant";
    if (!isKnown || rest.length !== (transport === "grant" ? 1 : 0)) {
      throw new UsageError(`"${positionals.join(" ")}": say stdio or http, or grant with the ID of a sandbox`);
    }
    const forHttp = [values.host, values.port, values["allow-host"]].some((value) => value !== undefined);
    if ((values.principal !== undefined) !== (transport === "grant")) {
      throw new UsageError("grant needs --principal, and nothing else takes it");
    }
    if (transport !== "http" && forHttp) throw new UsageError("--host, --port and --allow-host go with http");
    return { values, transport, rest } as const;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The id under which a user of the server works in a sandbox that another program made. */
function grantIn(config: Config, [id = ""]: readonly string[], principal = "", env: NodeJS.ProcessEnv): string {
  const secret = env.SANDKIT_SECRET || config.secret;
  if (secret === undefined) {
    throw new ConfigError("grant needs the secret of the server: set SANDKIT_SECRET, or secret in the config");
  }
  return grantSandbox({ provider: config.provider, id }, { principal, secret });
}

/** Beside those of the config. */
function withPackages(config: Config, deps: readonly string[] = []): Config {
  const packages = deps.flatMap((text) => text.split(/,(?![^[]*\])/)).map((name) => name.trim());
  if (packages.includes("")) throw new UsageError("--deps needs names of packages, separated by commas");
  if (packages.length === 0) return config;
  return { ...config, defaults: { ...config.defaults, packages: [...(config.defaults.packages ?? []), ...packages] } };
}

function logLevelOf(name: string | undefined, transport: "stdio" | "http" | "grant") {
  // A client over stdio keeps what is told as its own log of errors.
  if (!name) return transport === "http" ? "info" : "warn";
  const level = levelOf(name);
  if (level === undefined) throw new ConfigError(`LOG_LEVEL=${name}: use ${logLevels.join(", ")}`);
  return level;
}

function tokensOf(text = ""): string[] {
  const tokens = text
    .split(",")
    .map((token) => token.trim())
    .filter(Boolean);
  // Otherwise a token would be made that nobody is told.
  if (text !== "" && tokens.length === 0) throw new ConfigError("SANDKIT_TOKEN holds no token: set one, or unset it");
  return tokens;
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 3333;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port ${text}: a number from 0 to 65535 is needed`);
  return port;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(error: unknown): number {
  if (error instanceof UsageError) complain(`${error.message}; see sandkit-mcp --help`);
  else if (error instanceof ConfigError) complain(error.message);
  else if ((error as NodeJS.ErrnoException).code === "EADDRINUSE")
    complain("the port is taken: choose another with --port");
  else {
    complain(`cannot go on: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
  return 2;
}

/** The answer to whoever typed the command. */
function complain(message: string): void {
  process.stderr.write(`sandkit-mcp: ${message}\n`);
}

/** Resolves at the first signal; none ends the process by itself, for sandboxes are to be ended first. */
function terminated(onAgain: () => void): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let seen = false;
    const heard = (signal: NodeJS.Signals) => {
      if (seen) onAgain();
      seen = true;
      resolve(signal);
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, heard);
  });
}
