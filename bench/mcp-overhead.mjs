import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { median } from "./statistics.mjs";
import { timed } from "./timed.mjs";

const code = "sum(range(100))";
const cli = fileURLToPath(import.meta.resolve("sandkit/bin/sandkit.js"));
const token = "bench";
/** Nothing answers there. */
const noEngine = { DOCKER_HOST: "tcp://127.0.0.1:9" };

/**
 * One cell called through the SDK, and the same cell through the MCP server over stdio and over HTTP, in turns; what the
 * list of tools costs a model; how soon the server answers; and a crowd of clients.
 * @param {number} calls
 */
export async function mcpOverhead(calls) {
  const http = await serveHttp();
  try {
    return await measure(calls, http.url);
  } finally {
    await http.end();
  }
}

/**
 * @param {number} calls
 * @param {string} url
 */
async function measure(calls, url) {
  const stdio = newClient();
  const server = { command: process.execPath, args: [cli, "mcp", "--provider", "wasm"] };
  const [sandbox, overHttp] = await Promise.all([
    createSandbox(wasm()),
    connectHttp(url),
    stdio.connect(new StdioClientTransport(server)),
  ]);
  const sandbox_id = await newSandbox(overHttp);
  try {
    const sdk = [];
    const mcp = [];
    const web = [];
    // The first calls warm all sides up.
    for (let call = -10; call < calls; call++) {
      const sdkMs = await timed(() => sandbox.runCode(code));
      const mcpMs = await timed(() => stdio.callTool({ name: "run_code", arguments: { code } }));
      const webMs = await timed(() => overHttp.callTool({ name: "run_code", arguments: { code, sandbox_id } }));
      if (call < 0) continue;
      sdk.push(sdkMs);
      mcp.push(mcpMs);
      web.push(webMs);
    }
    const { tools } = await stdio.listTools();
    return {
      sdkMs: median(sdk),
      stdioMs: median(mcp),
      httpMs: median(web),
      toolTokens: encode(JSON.stringify({ tools })).length,
      handshakeMs: await handshake(),
      crowd: await crowd(url, sandbox_id),
    };
  } finally {
    await Promise.all([stdio.close(), overHttp.close(), sandbox.destroy()]);
  }
}

/** From the start of the process to the answer to `initialize`, for Docker with no engine: the median of five. */
async function handshake() {
  const times = [];
  for (let turn = 0; turn < 5; turn++) {
    const client = newClient();
    const args = [cli, "mcp", "--provider", "docker"];
    const transport = new StdioClientTransport({ command: process.execPath, args, env: { ...home(), ...noEngine } });
    times.push(await timed(() => client.connect(transport)));
    await client.close();
  }
  return median(times);
}

/**
 * 100 clients at once, 20 calls each, one after the other, in one sandbox; answers that are not the caller's own are lost.
 * @param {string} url
 * @param {string} sandbox_id
 */
async function crowd(url, sandbox_id) {
  const clients = await Promise.all(
    Array.from({ length: 100 }, (_, at) => connectHttp(url, at % 2 ? "auto" : "legacy")),
  );
  let lost = 0;
  const ms = await timed(() =>
    Promise.all(
      clients.map(async (client, at) => {
        for (let turn = 0; turn < 20; turn++) {
          const input = { sandbox_id, code: `${at}, ${turn}` };
          const { content } = await client.callTool({ name: "run_code", arguments: input });
          if (!JSON.stringify(content).includes(`(${at}, ${turn})`)) lost += 1;
        }
      }),
    ),
  );
  await Promise.all(clients.map((client) => client.close()));
  return { lost, callsPerSecond: Math.round(2_000 / (ms / 1_000)) };
}

/** The server over HTTP, as a process of its own, where one user may have as many runs as the crowd asks for. */
async function serveHttp() {
  const folder = mkdtempSync(join(tmpdir(), "sandkit-bench-"));
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify({ maxRuns: 1_000 }));
  const args = [cli, "mcp", "http", "--port", "0", "--config", config];
  const env = { ...home(), SANDKIT_TOKEN: token, LOG_LEVEL: "warn" };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let told = "";
  for await (const chunk of child.stderr) {
    told += chunk;
    const url = /listens at (\S+)/.exec(told)?.[1];
    if (url === undefined) continue;
    return {
      url,
      async end() {
        child.kill("SIGTERM");
        await new Promise((resolve) => child.once("exit", resolve));
        rmSync(folder, { recursive: true });
      },
    };
  }
  throw new Error(`the server did not start: ${told}`);
}

/**
 * @param {string} url
 * @param {"auto" | "legacy"} mode
 */
async function connectHttp(url, mode = "auto") {
  const client = newClient(mode);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

/** @param {"auto" | "legacy"} mode */
function newClient(mode = "legacy") {
  return new Client({ name: "sandkit-bench", version: "1.0.0" }, { versionNegotiation: { mode } });
}

/** @param {Client} client */
async function newSandbox(client) {
  const { structuredContent } = await client.callTool({ name: "create_sandbox", arguments: {} });
  return String(/** @type {{ sandbox_id: string }} */ (structuredContent).sandbox_id);
}

/** No config of this user. */
function home() {
  return { PATH: process.env.PATH ?? "", HOME: "/nonexistent" };
}
