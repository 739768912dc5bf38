import { Client, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { type ConfigFolder, localConfig } from "./support/local-config.js";
import { jsonRpc, send } from "./support/send.js";
import { program, serverEnv } from "./support/spawn-server.js";

let folder: ConfigFolder;
let server: HttpServer;
beforeAll(async () => {
  folder = await localConfig();
  const { config, path: configPath } = await folder.load();
  server = await serveHttp({ config, configPath, token: "secret" });
});
afterAll(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

interface Message {
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly data?: unknown; readonly logger?: string };
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** All that one call of the newer protocol is answered over HTTP, in the order sent. */
async function messagesOf(meta: Record<string, unknown>, command = "echo fine; echo bad >&2") {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  const params = { name: "exec", arguments: { command }, _meta };
  const headers = {
    ...jsonRpc,
    Authorization: "Bearer secret",
    "MCP-Protocol-Version": version,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "exec",
  };
  const { body, headers: answered } = await send(server.url, headers, {
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  if (!String(answered["content-type"]).startsWith("text/event-stream")) return [JSON.parse(body) as Message];
  const frames = body.split("\n").filter((line) => line.startsWith("data:"));
  return frames.map((line) => JSON.parse(line.slice("data:".length)) as Message);
}

const told = (messages: readonly Message[]) =>
  messages.flatMap(({ method, params }) => (method === "notifications/message" ? [[params?.level, params?.data]] : []));

describe("a call of the newer protocol over HTTP", () => {
  it("is answered with its result alone when it names no level", async () => {
    const messages = await messagesOf({});
    expect(messages).toHaveLength(1);
    expect(messages[0]?.result).toBeDefined();
  });

  it.each([
    ["debug", ["info", "warning"]],
    ["info", ["info", "warning"]],
    ["warning", ["warning"]],
    ["error", []],
  ] as const)("is told what is %s or above, before its result", async (level, levels) => {
    const messages = await messagesOf({ [LOG_LEVEL_META_KEY]: level });
    const data = { info: "fine\n", warning: "bad\n" };
    expect(told(messages)).toEqual(levels.map((name) => [name, data[name]]));
    expect(messages.at(-1)?.result).toBeDefined();
    expect(messages).toHaveLength(levels.length + 1);
  });

  it("names its run as the logger", async () => {
    const [first] = await messagesOf({ [LOG_LEVEL_META_KEY]: "warning" });
    expect(first?.params?.logger).toMatch(/^p-[0-9a-f]{12}$/);
  });

  it("leaves nothing of its level to the next", async () => {
    await messagesOf({ [LOG_LEVEL_META_KEY]: "debug" });
    expect(told(await messagesOf({}))).toEqual([]);
  });

  it("is refused with a level that there is not, and runs nothing", async () => {
    const [only, ...more] = await messagesOf({ [LOG_LEVEL_META_KEY]: "loud" });
    expect(only?.error).toMatchObject({ code: -32602, message: expect.stringContaining("logLevel") });
    expect(more).toEqual([]);
  });
});

it("calls of the newer protocol over stdio, at the same time, each hear what they asked for", async () => {
  const client = new Client({ name: "newer", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const args = [program, "--config", folder.path];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: serverEnv }));
  const logged: [string, unknown][] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => void logged.push([params.level, params.data]));
  const call = (name: string, meta: Record<string, unknown>) =>
    client.callTool({ name: "exec", arguments: { command: `echo ${name}; echo ${name} >&2` }, _meta: meta });
  await Promise.all([
    call("all", { [LOG_LEVEL_META_KEY]: "debug" }),
    call("worse", { [LOG_LEVEL_META_KEY]: "warning" }),
    call("none", {}),
  ]);
  expect(logged.toSorted()).toEqual([
    ["info", "all\n"],
    ["warning", "all\n"],
    ["warning", "worse\n"],
  ]);
  await client.close();
});
