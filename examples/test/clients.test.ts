import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
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

async function first(transport: FirstStdio | FirstHttp) {
  const client = new FirstClient(me);
  await client.connect(transport);
  return client;
}

async function second(transport: StdioClientTransport | StreamableHTTPClientTransport) {
  const client = new Client(me, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return client;
}

it.each([
  ["of the first line over stdio", () => first(new FirstStdio(stdio))],
  ["of the first line over HTTP", () => first(new FirstHttp(url, authorized))],
  ["of the second line over stdio", () => second(new StdioClientTransport(stdio))],
  ["of the second line over HTTP", () => second(new StreamableHTTPClientTransport(url, authorized))],
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
