import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport as FirstInMemory } from "@modelcontextprotocol/sdk/inMemory.js";
import { configSchema, createServer, type HttpServer, localPrincipal, Runtime, serveHttp } from "@sandkit/mcp-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tourSteps } from "../tour/steps.js";

const cli = fileURLToPath(import.meta.resolve("sandkit/bin/sandkit.js"));
const token = "a-token-of-the-test";
const stdio = { command: process.execPath, args: [cli, "mcp", "--provider", "wasm"] };
const authorized = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
const me = { name: "tour", version: "1.0.0" };

const http = spawn(process.execPath, [cli, "mcp", "http", "--port", "0", "--provider", "wasm"], {
  env: { ...process.env, SANDKIT_TOKEN: token },
  stdio: ["ignore", "ignore", "pipe"],
});
let url: URL;
beforeAll(async () => {
  for await (const line of createInterface({ input: http.stderr })) {
    const address = /listens at (\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    url = new URL(address);
    return;
  }
  throw new Error("the server ended before it listened");
});
afterAll(async () => {
  http.kill();
  await once(http, "exit");
});

const runtimes: Runtime[] = [];
afterAll(async () => {
  for (const runtime of runtimes) await runtime.close();
});

const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const docker = { provider: "docker", options: { images: { python: image }, pull: "never" } };
const hasEngine = process.env.SANDKIT_TEST_ENGINE === "1";
if (!hasEngine) console.warn("SKIPPED: clients are not tried over Docker: no container engine answers");

/** Serves Docker over HTTP. */
async function dockerUrl(): Promise<URL> {
  const server = await serveHttp({ config: configSchema.parse(docker), token });
  servers.push(server);
  return new URL(server.url);
}

const servers: HttpServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

/** Serves at one end of a pair of transports in this process. */
async function served<Transport extends InMemoryTransport | FirstInMemory>([clientSide, serverSide]: [
  Transport,
  Transport,
]): Promise<Transport> {
  const runtime = new Runtime({ config: configSchema.parse({ provider: "wasm" }), implicit: "default" });
  runtimes.push(runtime);
  await createServer(runtime, localPrincipal("tour")).connect(serverSide);
  return clientSide;
}

async function first(transport: FirstStdio | FirstHttp | FirstInMemory) {
  const client = new FirstClient(me);
  await client.connect(transport);
  return client;
}

async function second(transport: StdioClientTransport | StreamableHTTPClientTransport | InMemoryTransport) {
  // The transport in memory speaks the older protocol alone.
  const older = transport instanceof InMemoryTransport;
  const client = new Client(me, older ? {} : { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return client;
}

const overDocker: [string, () => Promise<Client>] = [
  "of the second line over HTTP, with Docker behind it,",
  async () => second(new StreamableHTTPClientTransport(await dockerUrl(), authorized)),
];

it.each<[string, () => Promise<FirstClient | Client>]>([
  ["of the first line in memory", async () => first(await served(FirstInMemory.createLinkedPair()))],
  ["of the second line in memory", async () => second(await served(InMemoryTransport.createLinkedPair()))],
  ["of the first line over stdio", () => first(new FirstStdio(stdio))],
  ["of the first line over HTTP", () => first(new FirstHttp(url, authorized))],
  ["of the second line over stdio", () => second(new StdioClientTransport(stdio))],
  ["of the second line over HTTP", () => second(new StreamableHTTPClientTransport(url, authorized))],
  ...(hasEngine ? [overDocker] : []),
])("a client %s completes the tour", async (_, connect) => {
  const client = await connect();
  try {
    // Over HTTP the first call makes a sandbox, and the others name it.
    let sandbox: unknown;
    for (const { tool, arguments: given, expect: expected } of tourSteps().flatMap(({ calls }) => calls)) {
      const input = { ...given, ...(sandbox !== undefined && { sandbox_id: sandbox }) };
      const { content, isError } = await client.callTool({ name: tool, arguments: input });
      const text = JSON.stringify(content);
      expect(isError, text).toBeFalsy();
      for (const words of expected) expect(text).toContain(words);
      sandbox ??= /Sandbox: ([^\s"\\]+)/.exec(text)?.[1];
    }
  } finally {
    await client.close();
  }
});
