import { homedir } from "node:os";
import { join } from "node:path";
import { configFolder, type EngineAddress, parseAddress, socketAddress, tlsOf } from "./address.js";
import { contextAddress, currentContext } from "./contexts.js";

/** What the search looks at. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Number of the user, where there are such. */
  readonly user?: number | undefined;
}

export const here = (): Surroundings => ({
  env: process.env,
  home: homedir(),
  platform: process.platform,
  user: process.getuid?.(),
});

/**
 * Where an engine may be, best first. What was chosen (an option, DOCKER_HOST, a context) is the only place then.
 * @throws SandboxError `INVALID` for an address or context that is none
 */
export async function engineAddresses(host: string | undefined, around: Surroundings): Promise<EngineAddress[]> {
  const { env, home } = around;
  const config = configFolder(env, home);
  const tls = tlsOf(env, config);
  if (host !== undefined) return [await parseAddress('option "host"', host, tls)];
  if (env.DOCKER_HOST) return [await parseAddress("DOCKER_HOST", env.DOCKER_HOST, tls)];
  const context = env.DOCKER_CONTEXT || (await currentContext(config));
  if (context !== undefined && context !== "default") return [await contextAddress(config, context)];
  return usualPlaces(around).map(([name, path]) => ({ source: `the socket of ${name}`, ...socketAddress(path) }));
}

function usualPlaces({ env, home, platform, user }: Surroundings): (readonly [string, string])[] {
  if (platform === "win32") {
    return [
      ["Docker Desktop", "//./pipe/docker_engine"],
      ["Podman", "//./pipe/podman-machine-default"],
    ];
  }
  // Without a login session the variable is missing, and the folder is there all the same.
  const runtime = env.XDG_RUNTIME_DIR || (platform === "linux" && user ? `/run/user/${user}` : undefined);
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
