import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { agentFeatures, type Capabilities, type CreateOptions, capabilities } from "@sandkit/core";
import { type AgentRuntime, type AgentSession, agentCommand, agentSession, streamChannel } from "@sandkit/core/kit";
import { environment } from "./environment.js";
import { failure, providerName } from "./errors.js";
import type { Folder } from "./folder.js";

/** How long an agent may take to end everything, once nobody holds its channel. */
const endMs = 5_000;

/** What plain processes under the guest agent can honour. */
export const agentCapabilities: Capabilities = capabilities({
  isolation: "none",
  features: {
    ...agentFeatures,
    "files.watch": "native",
    "network.full": "native",
    "lifetime.ttl": "native",
    "lifetime.idle": "native",
    attach: "native",
    list: "native",
    git: "emulated",
  },
});

/** Starts a guest agent as a process of this machine, with one sandbox folder for a box. */
export async function startAgentBox(
  id: string,
  folder: Folder,
  python: string,
  runtime: AgentRuntime,
  options: CreateOptions,
): Promise<AgentSession> {
  const env = environment(folder, python, options);
  const [, ...args] = await agentCommand(runtime);
  const agent = spawn(runtime === "python" ? python : process.execPath, args, {
    cwd: "/",
    env,
    // Out of the caller's session: a Ctrl-C in its terminal must not end the agent before its programs.
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { stdin, stdout } = agent;
  const createdAt = new Date();
  return agentSession(
    streamChannel({
      readable: stdout,
      writable: stdin,
      close: () => ended(agent),
      ref: () => refer(agent, "ref"),
      unref: () => refer(agent, "unref"),
    }),
    {
      ref: { provider: providerName, id },
      capabilities: agentCapabilities,
      workdir: folder.workdir,
      signal: options.signal,
      info: async () => ({
        state: (await folder.exists()) ? "running" : "gone",
        origin: "created",
        name: options.name,
        template: options.template,
        createdAt,
        labels: options.labels ?? {},
      }),
      destroy: () => folder.remove(),
    },
  );
}

/** The pipes keep this program alive as much as the process does. */
function refer(agent: ChildProcess, how: "ref" | "unref"): void {
  agent[how]();
  for (const stream of [agent.stdin, agent.stdout])
    if (stream && how in stream) Reflect.apply(Reflect.get(stream, how), stream, []);
}

async function ended(agent: ChildProcess): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null || agent.pid === undefined) return;
  const timer = new AbortController();
  const late = setTimeout(endMs, "late", { signal: timer.signal }).catch(() => undefined);
  const result = await Promise.race([once(agent, "exit"), late]);
  timer.abort();
  if (result !== "late") return;
  throw failure(
    "UNAVAILABLE",
    "destroy",
    `the agent, process ${agent.pid}, has not ended within ${endMs} ms: end it by hand`,
  );
}
