import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { localPrincipal } from "../../src/principal.js";
import { Runtime } from "../../src/runtime.js";
import { createServer } from "../../src/server.js";
import { type ConfigFolder, localConfig } from "./local-config.js";

/** A client of the first SDK line, connected in memory to a server over a real provider. */
export interface Connection extends AsyncDisposable {
  readonly client: Client;
  call(name: string, input?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

/** Serves the given config, or plain processes of this machine under the given settings. */
export async function connect(
  settings: Record<string, unknown> | ConfigFolder = {},
  implicit: "default" | "fresh" = "default",
): Promise<Connection> {
  const folder = isFolder(settings) ? settings : await localConfig(settings);
  const { config, path: configPath } = await folder.load();
  const runtime = new Runtime({ config, configPath, implicit });
  const server = createServer(runtime, localPrincipal("test"));
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(clientSide);
  return {
    client,
    call: (name, input, options) => callTool(client, name, input, options),
    async [Symbol.asyncDispose]() {
      await client.close();
      await runtime.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Calls a tool the way clients do. */
export async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: input }, undefined, options)) as CallToolResult;
}

/** All text of a result. */
export function textOf(result: Pick<CallToolResult, "content">): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("\n");
}

/** The record of a run. */
export function recordOf(result: Pick<CallToolResult, "_meta">): Record<string, unknown> {
  return (result._meta?.["sandkit/run"] ?? {}) as Record<string, unknown>;
}

function isFolder(value: Record<string, unknown> | ConfigFolder): value is ConfigFolder {
  return typeof value.load === "function";
}
