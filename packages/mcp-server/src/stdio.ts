import { hostname } from "node:os";
import { type ProtocolEra, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { serveStdio as serveConnection } from "@modelcontextprotocol/server/stdio";
import type { Config } from "./config.js";
import { localPrincipal, type Principal, principalOf } from "./principal.js";
import { checkShareable, replicaName } from "./replica.js";
import { report } from "./report.js";
import { tellChanges } from "./resources/serve-resources.js";
import { size } from "./result/text.js";
import { Runtime } from "./runtime.js";
import { createServer } from "./server.js";
import { guardStdout } from "./stdio/guard-stdout.js";
import { LineTransport } from "./stdio/line-transport.js";
import { MessageLines } from "./stdio/message-lines.js";
import type { MessageProblem } from "./stdio/read-message.js";

/** How long sandboxes may take to end once the client has gone, in milliseconds. */
const farewellMs = 1_500;

export interface ServeStdioOptions {
  readonly config: Config;
  /** The file of the config: provider packages installed beside it are found. */
  readonly configPath?: string | undefined;
  /** Signs the ids of sandboxes, so that they mean something after a restart. Default: `secret` of the config, or a new one. */
  readonly secret?: string | undefined;
}

/**
 * Serves one client over this process's stdin and stdout. Resolves when the client has gone (end of stdin, even before
 * the first message) or on SIGTERM, SIGINT or SIGHUP, once every sandbox is ended or 1.5 s have passed; the caller then
 * ends the process.
 * @throws ConfigError for options that the provider does not take
 */
export async function serveStdio(options: ServeStdioOptions): Promise<void> {
  const secret = options.secret ?? options.config.secret;
  checkShareable(options.config, secret !== undefined);
  const runtime = new Runtime({ ...options, implicit: "default", replica: replicaName(hostname(), "stdio") });
  const principal = secret === undefined ? localPrincipal("stdio") : principalOf("stdio", secret);
  const write = guardStdout();
  await runtime.checkOptions();
  const lines = messageLines(options.config, write);
  const transport = new LineTransport(process.stdin, (bytes, onMessage) => lines.take(bytes, onMessage), write);
  const connection = serveConnection(({ era }) => serve(runtime, principal, era), {
    transport,
    onerror: (error) => report("protocol", error),
  });
  await departure();
  await Promise.race([
    Promise.allSettled([connection.close(), runtime.close()]),
    new Promise((resolve) => setTimeout(resolve, farewellMs)),
  ]);
}

/** The SDK filters what a client of the newer protocol has asked to be told. */
function serve(runtime: Runtime, principal: Principal, era: ProtocolEra): Server {
  const server = createServer(runtime, principal);
  if (era === "modern") tellChanges(server, runtime, principal);
  return server;
}

function messageLines(config: Config, write: (text: string) => Promise<void>): MessageLines {
  // JSON may take six bytes for one; the tools then name the limit of their own.
  const maxBytes = 6 * config.maxInputBytes + 1024 * 1024;
  const answer = (id: string | number | null, code: number, message: string) =>
    write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`).catch((error) =>
      report("a message could not be answered", error),
    );
  const onTooLong = (id: string | number | undefined) => {
    const message = `TOO_LARGE: the message is above ${size(maxBytes)}: send less than ${size(config.maxInputBytes)} in one call (maxInputBytes of the config)`;
    report(message);
    if (id !== undefined) answer(id, ProtocolErrorCode.InvalidRequest, message);
  };
  const onProblem = ({ id, code, message }: MessageProblem) => {
    report("protocol", message);
    answer(id, code, message);
  };
  return new MessageLines({ maxBytes, onTooLong, onProblem });
}

/** Settles when the client has gone or the process is asked to end. */
function departure(): Promise<void> {
  const { stdin, stdout } = process;
  return new Promise((resolve) => {
    const leave = () => resolve();
    for (const event of ["end", "close", "error"]) stdin.once(event, leave);
    stdout.on("error", leave);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, leave);
    if (stdin.readableEnded || stdin.destroyed) leave();
  });
}
