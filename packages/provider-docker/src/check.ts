import type { CheckResult } from "@sandkit/core";
import { isolationOf } from "./capabilities.js";
import type { EngineConnector } from "./engine/connector.js";
import { messageOf } from "./errors.js";
import type { DockerOptions } from "./options.js";

/** Whether there is an engine that can be used from here, and what it is. Never throws. */
export async function checkEngine(connector: EngineConnector, options: DockerOptions): Promise<CheckResult> {
  try {
    const engine = await connector.connect();
    const facts = await engine.facts();
    if (options.runtime !== undefined && !facts.runtimes.includes(options.runtime)) {
      return {
        ok: false,
        detail: `the engine at ${engine.place} does not know runtime "${options.runtime}" (it has ${facts.runtimes.join(", ")})`,
        fix: ["install it on the engine's machine and restart the engine", 'leave out "runtime" of docker()'],
      };
    }
    const kind = [`runtime ${options.runtime ?? "of the engine"}`, `cgroup v${facts.cgroupVersion}`, ...facts.security];
    const detail = `engine ${facts.version} at ${engine.place} (${kind.join(", ")}); isolation: ${isolationOf(options.runtime)}`;
    return { ok: true, detail };
  } catch (error) {
    return {
      ok: false,
      detail: messageOf(error),
      fix: [
        "start Docker, Podman (podman system service) or Colima",
        'say where it listens, by DOCKER_HOST or the option "host"',
      ],
    };
  }
}
