import { toByteStream } from "../data.js";
import type { SandboxRef } from "../provider.js";
import { agentFiles } from "./agent-files.js";
import type { AgentSessionOptions } from "./agent-session.js";
import { ask } from "./ask.js";
import type { AgentConnection } from "./connection.js";
import { checked } from "./messages.js";
import type { AgentInfo, AgentReady, HelloRequest } from "./protocol.js";

/** Hello, what the box has, and the files that it begins with, in one round trip. */
export async function greet(
  connection: AgentConnection,
  options: AgentSessionOptions,
): Promise<{ readonly ready: AgentReady; readonly info: AgentInfo }> {
  const hello: HelloRequest = {
    op: "hello",
    version: 1,
    workdir: options.workdir,
    env: options.env ?? {},
    directories: options.directories ?? [],
    ttlMs: options.ttlMs ?? null,
    idleMs: options.idleMs ?? null,
    leaseMs: options.leaseMs ?? null,
    ...(options.settingUp && { settingUp: true }),
    ...(options.joins && { joins: true }),
    ...(options.network && { network: { port: options.network.port } }),
  };
  const { provider, id } = options.ref;
  const subject = JSON.stringify(options.workdir);
  const greeting = ask(connection, hello, { operation: "create", subject, provider, sandboxId: id });
  const { write } = agentFiles(connection, provider);
  const writing = Object.entries(options.files ?? {}).map(([path, text]) =>
    write(path, toByteStream(text), { mode: "truncate" }),
  );
  const rest = Promise.all([askInfo(connection, options.ref), ...writing]);
  // After a hello that is refused nothing else is heard: that is what there is to tell.
  rest.catch(() => undefined);
  const ready = checked("ready", await greeting);
  const [info] = await rest;
  return { ready, info };
}

/** What a box has, looked at now. */
export async function askInfo(connection: AgentConnection, { provider, id }: SandboxRef): Promise<AgentInfo> {
  const about = { operation: "info", subject: `sandbox ${id}`, provider, sandboxId: id };
  return checked("info", await ask(connection, { op: "info" }, about));
}
