import { setTimeout as sleep } from "node:timers/promises";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { callTool, recordOf, textOf } from "./support/connect.js";
import { type ConfigFolder, localConfig } from "./support/local-config.js";
import { jsonRpc, listTools, send } from "./support/send.js";
import { lives, RawServer } from "./support/spawn-server.js";

let folder: ConfigFolder;
let server: HttpServer;
beforeAll(async () => {
  folder = await localConfig();
  const { config, path: configPath } = await folder.load();
  server = await serveHttp({ config, configPath, token: ["alice-secret", "bob-secret"] });
});
afterAll(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

const authorized = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });

async function connect(token: string, url = server.url): Promise<Client> {
  const client = new Client({ name: "first", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), authorized(token)));
  return client;
}

describe("clients", () => {
  it("of the first line work, and find their sandbox by its id", async () => {
    const client = await connect("alice-secret");
    const first = await callTool(client, "exec", { command: "echo one > file; echo made" });
    expect(textOf(first)).toMatch(/^Exited with code 0 .* Sandbox: (\S+) \(pass it as sandbox_id/);
    const id = recordOf(first).sandbox;
    expect(textOf(await callTool(client, "exec", { command: "cat file", sandbox_id: id }))).toContain("one");
    await client.close();
    const later = await connect("alice-secret");
    expect(textOf(await callTool(later, "read_file", { path: "file", sandbox_id: id }))).toContain("one");
    expect((await callTool(later, "destroy_sandbox", { sandbox_id: id })).isError).toBeFalsy();
    await later.close();
  });

  it.each(["legacy", "auto"] as const)("of the second line work (%s)", async (mode) => {
    const client = new ModernClient({ name: "second", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new ModernHttp(new URL(server.url), authorized("alice-secret")));
    expect(client.getNegotiatedProtocolVersion()).toMatch(mode === "auto" ? /^2026-07-28$/ : /^2025/);
    expect((await client.listTools()).tools).toHaveLength(8);
    const seen: number[] = [];
    const result = await client.callTool(
      { name: "exec", arguments: { command: "sleep 4; echo second" } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(textOf(result as Parameters<typeof textOf>[0])).toContain("second");
    expect(seen.length).toBeGreaterThan(0);
    await client.close();
  });

  it("who cancel end what runs, in both eras", async () => {
    const first = await connect("bob-secret");
    const second = new ModernClient({ name: "second", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await second.connect(new ModernHttp(new URL(server.url), authorized("bob-secret")));
    for (const call of [
      (signal: AbortSignal) => callTool(first, "exec", { command: "sleep 60" }, { signal }),
      (signal: AbortSignal) => second.callTool({ name: "exec", arguments: { command: "sleep 60" } }, { signal }),
    ]) {
      const abort = new AbortController();
      const rejected = expect(call(abort.signal)).rejects.toThrow();
      await sleep(700);
      expect(textOf(await callTool(first, "list_sandboxes"))).toContain("running");
      abort.abort();
      await rejected;
      // A sandbox whose call was cancelled has an id that nobody knows: it ends.
      const until = Date.now() + 5_000;
      const listed = async () => textOf(await callTool(first, "list_sandboxes"));
      while ((await listed()).includes("running") && Date.now() < until) await sleep(50);
      expect(await listed()).toContain("No sandbox is alive");
    }
    await first.close();
    await second.close();
  });

  it("who go away before the answer have cancelled", async () => {
    const going = await connect("bob-secret");
    const left = callTool(going, "exec", { command: "sleep 60" }).catch(() => undefined);
    // Of the 2025 protocols one knows lists of calls.
    const headers = { ...jsonRpc, ...authorized("bob-secret").requestInit.headers };
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "list", version: "1" } };
    const begin = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const session = String((await send(server.url, headers, { body: begin })).headers["mcp-session-id"]);
    const abort = new AbortController();
    const list = [
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "exec", arguments: { command: "sleep 60" } } },
    ];
    const listed = fetch(server.url, {
      method: "POST",
      headers: { ...headers, "Mcp-Session-Id": session },
      body: JSON.stringify(list),
      signal: abort.signal,
    }).then((response) => response.text());
    const rejected = expect(listed).rejects.toThrow();
    await sleep(700);
    await going.close();
    abort.abort();
    await Promise.all([left, rejected]);
    const client = await connect("bob-secret");
    const until = Date.now() + 5_000;
    const alive = async () => textOf(await callTool(client, "list_sandboxes"));
    while ((await alive()).includes("running") && Date.now() < until) await sleep(50);
    expect(await alive()).toContain("No sandbox is alive");
    await client.close();
  });

  it("with another token see nothing of each other", async () => {
    const [alice, bob] = await Promise.all([connect("alice-secret"), connect("bob-secret")]);
    const id = recordOf(await callTool(alice, "exec", { command: "echo secret > file" })).sandbox;
    for (const [tool, input] of [
      ["exec", { command: "cat file", sandbox_id: id }],
      ["read_file", { path: "file", sandbox_id: id }],
      ["destroy_sandbox", { sandbox_id: id }],
    ] as const) {
      const result = await callTool(bob, tool, input);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^NOT_FOUND: there is no sandbox/);
    }
    expect(textOf(await callTool(bob, "list_sandboxes"))).not.toContain(String(id));
    expect(textOf(await callTool(alice, "exec", { command: "cat file", sandbox_id: id }))).toContain("secret");
    await callTool(alice, "destroy_sandbox", { sandbox_id: id });
    await Promise.all([alice.close(), bob.close()]);
  });

  it("whose session was lost with an earlier server are served all the same", async () => {
    const headers = { ...jsonRpc, Authorization: "Bearer alice-secret", "Mcp-Session-Id": "of-another-life" };
    const reply = await send(server.url, headers, { body: listTools });
    expect(reply).toMatchObject({ status: 200, body: expect.stringContaining("run_code") });
  });
});

describe("the program", () => {
  const listening = async (raw: RawServer) => {
    while (!raw.stderr.includes("listens at")) await sleep(50);
    return /http:\S+/.exec(raw.stderr)?.[0] ?? "";
  };

  it("makes a token, prints it once, and ends in order on SIGTERM with calls under way", async () => {
    await using raw = new RawServer(["http", "--port", "0", "--config", folder.path]);
    const url = await listening(raw);
    await sleep(100);
    const token = /Authorization: Bearer (\S{40,})/.exec(raw.stderr)?.[1] ?? "";
    const client = await connect(token, url);
    const call = callTool(client, "exec", { command: "sleep 2; echo finished" });
    await sleep(500);
    raw.child.kill("SIGTERM");
    while (!raw.stderr.includes('"draining"')) await sleep(20);
    // Whoever comes now, on a connection of their own, is told to come back.
    const headers = { ...jsonRpc, Authorization: `Bearer ${token}` };
    const late = await send(url, headers, { body: listTools });
    expect(late).toMatchObject({ status: 503, headers: { "retry-after": "5", connection: "close" } });
    expect((await send(url, {}, { path: "/healthz", method: "GET" })).status).toBe(503);
    expect(textOf(await call)).toContain("finished");
    await client.close();
    expect(await raw.exited).toEqual([0, null]);
    expect(raw.stdout).toBe("");
  });

  it("stops what outlasts the time to drain, and keeps no client waiting", async () => {
    const { config, path: configPath } = await folder.load();
    const hasty = await serveHttp({
      config: { ...config, http: { ...config.http, drainSeconds: 0.3 } },
      configPath,
      token: "secret",
    });
    const client = await connect("secret", hasty.url);
    const made = await callTool(client, "exec", { command: "sleep 300 & echo $!" });
    const pid = Number(/\n(\d+)$/.exec(textOf(made))?.[1]);
    expect(lives(pid)).toBe(true);
    const call = callTool(client, "exec", { command: "sleep 300" });
    await sleep(300);
    await hasty.close();
    expect(textOf(await call)).toMatch(/^UNAVAILABLE: the server is shutting down/);
    expect(lives(pid)).toBe(false);
    await client.close();
  });

  it("refuses a SANDKIT_TOKEN without a token, which nobody could send", async () => {
    await using raw = new RawServer(["http", "--port", "0"], { SANDKIT_TOKEN: " , " });
    expect(await raw.exited).toEqual([2, null]);
    expect(raw.stderr).toContain("SANDKIT_TOKEN holds no token");
  });

  it("ends at once, and in order, when told to end a second time", async () => {
    await using raw = new RawServer(["http", "--port", "0", "--config", folder.path], { SANDKIT_TOKEN: "secret" });
    const client = await connect("secret", await listening(raw));
    const call = callTool(client, "exec", { command: "sleep 60" }).catch(() => undefined);
    await sleep(700);
    raw.child.kill("SIGTERM");
    await sleep(200);
    raw.child.kill("SIGTERM");
    const asked = Date.now();
    expect(await raw.exited).toEqual([0, null]);
    expect(Date.now() - asked).toBeLessThan(8_000);
    await client.close();
    await call;
  });

  it("keeps a token of one's own to itself", async () => {
    await using raw = new RawServer(["http", "--port", "0", "--config", folder.path], {
      SANDKIT_TOKEN: "my-own-secret",
    });
    await listening(raw);
    expect(raw.stderr).not.toContain("secret");
  });
});
