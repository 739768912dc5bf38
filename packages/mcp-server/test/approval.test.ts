import { createHash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type CallToolResult, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAsked } from "../src/approval/policy.js";
import { configSchema } from "../src/config.js";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { toolNames } from "../src/tool-names.js";
import { connect, recordOf, textOf } from "./support/connect.js";
import { type ConfigFolder, localConfig } from "./support/local-config.js";
import { program, serverEnv } from "./support/spawn-server.js";

type Answer = { action: "accept" | "decline" | "cancel"; content?: { approve: boolean } };
type Person = (message: string) => Answer | Promise<Answer>;
interface AnyClient {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const yes: Answer = { action: "accept", content: { approve: true } };
const no: Answer = { action: "accept", content: { approve: false } };
const version = "1";
const elicitation = { capabilities: { elicitation: {} } };
const authorized = { requestInit: { headers: { Authorization: "Bearer secret" } } };

let folder: ConfigFolder;
let server: HttpServer;
const log = () => join(folder.folder, "audit", "log.jsonl");
beforeAll(async () => {
  folder = await localConfig({ approval: "on-write" });
  await mkdir(join(folder.folder, "audit"));
  const { config, path: configPath } = await folder.load();
  const settings = configSchema.parse({ ...config, audit: { to: log() } });
  server = await serveHttp({ config: settings, configPath, token: "alice:secret" });
});
afterAll(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

async function first(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  person: Person,
): Promise<AnyClient> {
  const client = new Client({ name: "first", version }, elicitation);
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => Promise.resolve(person(params.message)));
  await client.connect(transport);
  return client as AnyClient;
}

async function second(
  transport: ModernStdio | ModernHttp,
  person: Person,
  mode: "auto" | "legacy",
): Promise<AnyClient> {
  const client = new ModernClient({ name: "second", version }, { ...elicitation, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", ({ params }) => Promise.resolve(person(params.message)));
  await client.connect(transport);
  expect(client.getNegotiatedProtocolVersion()).toMatch(mode === "auto" ? /^2026-07-28$/ : /^2025/);
  return client as AnyClient;
}

const http = () => new URL(server.url);
const stdio = () => ({
  command: process.execPath,
  args: [program, "--config", folder.path],
  env: serverEnv,
  stderr: "ignore" as const,
});
const clients: readonly (readonly [string, (person: Person) => Promise<AnyClient>])[] = [
  ["first line, HTTP", (person) => first(new StreamableHTTPClientTransport(http(), authorized), person)],
  ["second line of 2025, HTTP", (person) => second(new ModernHttp(http(), authorized), person, "legacy")],
  ["second line of 2026, HTTP", (person) => second(new ModernHttp(http(), authorized), person, "auto")],
  ["first line, stdio", (person) => first(new StdioClientTransport(stdio()), person)],
  ["second line of 2026, stdio", (person) => second(new ModernStdio(stdio()), person, "auto")],
];

const call = async (client: AnyClient, name: string, input: Record<string, unknown>) =>
  (await client.callTool({ name, arguments: input })) as CallToolResult;

describe.each(clients)("a client of the %s", (_, open) => {
  it("asks its user, shows exactly what is to run, and lets pass only what was approved", async () => {
    const asked: string[] = [];
    let answer = yes;
    const client = await open(async (message) => {
      asked.push(message);
      // Longer than the run may take: its clock stands still.
      if (asked.length === 1) await sleep(1_200);
      return answer;
    });
    const made = await call(client, "exec", { command: "echo one\u202e; echo two", timeout: 1, stdin: "in" });
    expect(textOf(made)).toMatch(/^Exited with code 0/);
    expect(asked[0]).toMatch(
      /^May this client run a command\?\nsandbox: (the default one|a new one) \(local-provider, network: none\)\nstdin: in\ntimeout: 1\n\necho one\\u\{202e\}; echo two$/,
    );
    const id = String(recordOf(made).sandbox);
    const write = (path: string) => call(client, "write_file", { path, content: "text", sandbox_id: id });
    for (answer of [no, { action: "decline" }, { action: "cancel" }] as const) {
      const refused = await write("never");
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toMatch(/^DENIED: the user (declined|closed the question about) this call of write_file/);
    }
    answer = yes;
    expect(textOf(await write("written"))).toMatch(/^Wrote/);
    expect(asked.at(-1)).toContain(`sandbox: ${id} (`);
    const before = asked.length;
    const listed = textOf(await call(client, "read_file", { path: ".", sandbox_id: id }));
    expect(listed).toContain("written");
    expect(listed).not.toContain("never");
    // Neither a look nor a call that does not fit costs a person's time.
    expect(textOf(await call(client, "exec", { command: "" }))).toMatch(/^INVALID/);
    expect(asked).toHaveLength(before);
    await client.close();
  }, 30_000);
});

it("denies where a client cannot ask, unless the config says otherwise", async () => {
  await using strict = await connect({ approval: ["write_*", "exec"] });
  const refused = await strict.call("exec", { command: "true" });
  expect(textOf(refused)).toMatch(/^DENIED: this server asks a person before exec, and this client cannot/);
  expect(textOf(await strict.call("list_sandboxes"))).toContain("No sandbox is alive");
  await using loose = await connect({ approval: "always", approvalDefault: "allow" });
  expect((await loose.call("exec", { command: "true" })).isError).toBeFalsy();
});

it("takes an answer once, and for the very call that it was given to", async () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const send = async (command: string, more: Record<string, unknown> = {}) => {
    const params = { name: "exec", arguments: { command }, _meta: meta, ...more };
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        Authorization: "Bearer secret",
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "exec",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const text = await response.text();
    return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text).result;
  };
  const asked = await send("echo first");
  expect(asked.resultType).toBe("input_required");
  const answer = { requestState: asked.requestState, inputResponses: { approval: yes } };
  expect(textOf(await send("echo other", answer))).toMatch(/^INVALID: the answer of the user belongs to another call/);
  expect(textOf(await send("echo first", { ...answer, requestState: "v1.forged.seal" }))).toMatch(/^INVALID/);
  expect(textOf(await send("echo first", { inputResponses: answer.inputResponses }))).toMatch(/^INVALID/);
  expect(textOf(await send("echo first", answer))).toMatch(/^Exited with code 0/);
  expect(textOf(await send("echo first", answer))).toMatch(/^INVALID/);
});

it("knows its tools, and refuses a pattern that would ask about none", async () => {
  await using own = await connect();
  expect((await own.client.listTools()).tools.map(({ name }) => name)).toEqual(toolNames);
  expect(isAsked(["*_file"], "read_file", false)).toBe(true);
  expect(isAsked(["*_file"], "exec", true)).toBe(false);
  expect(() => configSchema.parse({ approval: ["exce"] })).toThrow(/matches no tool/);
  expect(() => configSchema.parse({ audit: { to: "relative.jsonl" } })).toThrow(/absolute path/);
});

it("keeps a record of calls that holds nothing of what ran", async () => {
  const client = await first(new StreamableHTTPClientTransport(http(), authorized), () => yes);
  const command = "echo a-secret-word; sleep 1; exit 3";
  const started = await call(client, "exec", { command, wait_s: 0 });
  const run = String(recordOf(started).process);
  await expect(call(client, "made_up", {})).rejects.toThrow();
  await call(client, "exec", { command: 7 });
  await call(client, "process", { process: run, wait_s: 5 });
  await client.close();
  const text = await readFile(log(), "utf8");
  expect(text).not.toContain("a-secret-word");
  expect((await stat(log())).mode & 0o777).toBe(0o600);
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const sha256 = createHash("sha256").update(command).digest("hex");
  const own = lines.filter((line) => line.sha256 === sha256);
  const known = { principal: "alice", tool: "exec", process: run, decision: "allowed", decidedBy: "user" };
  expect(own).toEqual([
    expect.objectContaining({ ...known, event: "call", outcome: "running" }),
    expect.objectContaining({ ...known, event: "end", outcome: "exited", exitCode: 3, bytesOut: 14 }),
  ]);
  expect(own[1].sandbox).toMatch(/^[\w-]+$/);
  expect(lines).toContainEqual(
    expect.objectContaining({ tool: "write_file", decision: "denied", decidedBy: "user", outcome: "DENIED" }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({ tool: "read_file", decision: "allowed", decidedBy: "policy", outcome: "ok" }),
  );
  // What was refused before anybody was asked, too.
  const refused = lines.filter(({ decision }) => decision === undefined);
  expect(refused).toContainEqual(expect.objectContaining({ event: "call", tool: "exec", outcome: "INVALID" }));
  expect(refused).toContainEqual(expect.objectContaining({ event: "call", tool: "unknown", outcome: "INVALID" }));
});

it("goes on without a record, unless the config requires one", async () => {
  // A folder cannot be written like a file.
  await using loose = await connect({ audit: { to: folder.folder } });
  expect((await loose.call("exec", { command: "true" })).isError).toBeFalsy();
  await using strict = await connect({ audit: { to: folder.folder, required: true } });
  const refused = await strict.call("exec", { command: "true" });
  expect(textOf(refused)).toMatch(/^UNAVAILABLE: nothing ran: the audit log cannot be written \(.*EISDIR/);
  expect(textOf(await strict.call("exec", { command: "true" }))).toMatch(/^UNAVAILABLE/);
});
