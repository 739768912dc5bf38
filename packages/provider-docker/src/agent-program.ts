import type { Duplex } from "node:stream";
import type { SandboxError } from "@sandkit/core";
import { agentCommand, attachedAgent, bridgeCommand } from "@sandkit/core/kit";
import { isolationOf } from "./capabilities.js";
import type { EngineClient } from "./engine/client.js";
import { onEngine, refusal } from "./errors.js";
import type { ImageFacts } from "./image-store.js";
import { ownEnvironment } from "./own-environment.js";
import { plainCommand } from "./plain/plain-session.js";
import type { SandboxPlan } from "./plan-sandbox.js";

/** What a sandbox begins with. */
export interface FirstCommand {
  readonly command: readonly string[];
  /** What it reads first from its stdin. */
  readonly head?: Uint8Array;
}

/**
 * The first program of a sandbox.
 * @param code The agent as an earlier sandbox of this very image has compiled it.
 */
export async function firstCommand(
  image: ImageFacts,
  plan: SandboxPlan,
  detached: boolean,
  code?: Uint8Array,
): Promise<FirstCommand> {
  if (image.first !== "python" && detached) {
    throw refusal("UNSUPPORTED", `option "lifetime.detached" needs python3 in the image: ${image.reference} has none`);
  }
  if (detached && isolationOf(plan.runtime) === "gvisor") {
    // Its kernel tells the agent of every client that it is the agent itself.
    throw refusal("UNSUPPORTED", `option "lifetime.detached" does not work with runtime "${plan.runtime}"`);
  }
  if (plan.unsafeRoot && detached) {
    // The agent takes a client that is root for the owner, and so would be every program.
    throw refusal("UNSUPPORTED", 'option "lifetime.detached" does not go together with "unsafeRoot": leave out one');
  }
  if (image.first === "shell") {
    const option = plan.egress ? "network" : plan.hasPorts ? "ports" : undefined;
    if (option === undefined) return { command: plainCommand };
    throw withoutInterpreter(option, image);
  }
  if (image.first === "node") {
    if (plan.unsafeRoot) {
      // The agent in JavaScript is kept from the programs beside it by giving up root.
      throw refusal("UNSUPPORTED", `"unsafeRoot" needs python3 in the image: ${image.reference} has none`);
    }
    const [uid = "", gid = ""] = plan.user.split(":");
    const places = [...Object.keys(plan.workspace.mounts), ...image.volumes];
    const open = places.flatMap((path) => ["--open", path]);
    return { command: await agentCommand("node", ["--uid", uid, "--gid", gid, ...open]) };
  }
  return detached ? { command: await agentCommand("python", ["detached"]) } : attachedAgent(code);
}

/** The error for what an image cannot be asked for that has nothing to run an agent. */
export function withoutInterpreter(option: string, { reference }: ImageFacts): SandboxError {
  return refusal("UNSUPPORTED", `option "${option}" needs python3 or node in the image: ${reference} has neither`);
}

/** A client's way to the agent of a detached sandbox: a program beside it, as root, whom the agent believes. */
export function bridgeStreams(engine: EngineClient, container: string, sandboxId: string): Promise<Duplex> {
  const context = { operation: "attach", subject: `container ${container}`, sandboxId };
  return onEngine(context, async () => {
    const [command, found] = await Promise.all([bridgeCommand(), engine.inspect(container)]);
    const env = found ? ownEnvironment(found) : [];
    return engine.exec(container, { Cmd: [...command], Env: env, User: "0:0", WorkingDir: "/" });
  });
}
