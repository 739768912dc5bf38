import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, textOf } from "./support/connect.js";
import { type ConfigFolder, localConfig } from "./support/local-config.js";
import { lives, program, RawServer, serverEnv } from "./support/spawn-server.js";

let folder: ConfigFolder;
beforeAll(async () => {
  folder = await localConfig();
});
afterAll(() => folder[Symbol.asyncDispose]());
const start = (...args: string[]) => new RawServer(["--config", folder.path, ...args]);
const within = async <T>(milliseconds: number, promise: Promise<T>): Promise<T> =>
  await Promise.race([
    promise,
    sleep(milliseconds, undefined, { ref: false }).then(() => {
      throw new Error(`took more than ${milliseconds} ms`);
    }),
  ]);

describe("clients", () => {
  const parameters = () => ({
    command: process.execPath,
    args: [program, "--config", folder.path],
    env: serverEnv,
    stderr: "ignore" as const,
  });

  it("of the first line work", async () => {
    const client = new Client({ name: "first", version: "1" });
    await client.connect(new StdioClientTransport(parameters()));
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("exec");
      expect(textOf(await callTool(client, "exec", { command: "echo first" }))).toContain("first");
    } finally {
      await client.close();
    }
  });

  it.each(["legacy", "auto"] as const)("of the second line work (%s)", async (mode) => {
    const client = new ModernClient({ name: "second", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new ModernStdio(parameters()));
    try {
      expect(client.getNegotiatedProtocolVersion()).toMatch(mode === "auto" ? /^2026-07-28$/ : /^2025/);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("exec");
      const result = await client.callTool({ name: "exec", arguments: { command: "echo second; exit 4" } });
      expect(textOf(result as Parameters<typeof textOf>[0])).toMatch(/^Exited with code 4.*second/s);
      const abort = new AbortController();
      const slow = client.callTool({ name: "exec", arguments: { command: "sleep 60" } }, { signal: abort.signal });
      setTimeout(() => abort.abort(), 300);
      await expect(slow).rejects.toThrow();
      expect((await client.callTool({ name: "list_sandboxes", arguments: {} })).isError).toBeFalsy();
    } finally {
      await client.close();
    }
  });
});

describe("the end", () => {
  it("comes with the end of stdin, before any message", async () => {
    await using server = start();
    server.child.stdin.end();
    expect(await within(10_000, server.exited)).toEqual([0, null]);
    expect(server.stdout).toBe("");
  });

  it("comes with the end of stdin after the handshake, with nothing left behind", async () => {
    await using server = start();
    await server.initialize();
    const pid = Number(/\n(\d+)$/.exec(await server.call(1, "exec", { command: "sleep 300 & echo $!" }))?.[1]);
    server.send({ id: 2, method: "tools/call", params: { name: "exec", arguments: { command: "sleep 300" } } });
    await sleep(500);
    server.child.stdin.end();
    expect(await within(10_000, server.exited), server.stderr).toEqual([0, null]);
    expect(lives(pid)).toBe(false);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("comes with %s", async (signal) => {
    await using server = start();
    await server.initialize();
    await server.call(1, "exec", { command: "true" });
    server.child.kill(signal);
    expect(await within(10_000, server.exited)).toEqual([0, null]);
  });

  it("comes in order when the signal comes twice, in the middle of a call", async () => {
    await using server = start();
    await server.initialize();
    const pid = Number(/\n(\d+)$/.exec(await server.call(1, "exec", { command: "sleep 300 & echo $!" }))?.[1]);
    server.send({ id: 2, method: "tools/call", params: { name: "exec", arguments: { command: "sleep 300" } } });
    await sleep(300);
    server.child.kill("SIGTERM");
    server.child.kill("SIGTERM");
    server.child.kill("SIGINT");
    expect(await within(10_000, server.exited)).toEqual([0, null]);
    expect(lives(pid)).toBe(false);
  });

  it("leaves no process when the server is killed", async () => {
    await using server = start();
    await server.initialize();
    const pid = Number(/\n(\d+)$/.exec(await server.call(1, "exec", { command: "sleep 300 & echo $!" }))?.[1]);
    expect(pid).toBeGreaterThan(1);
    server.child.kill("SIGKILL");
    await server.exited;
    const until = Date.now() + 5_000;
    while (lives(pid) && Date.now() < until) await sleep(50);
    expect(lives(pid)).toBe(false);
  });
});

describe("the wire", () => {
  it("carries the protocol alone, whatever programs print", async () => {
    await using server = start();
    await server.initialize();
    await server.call(1, "exec", {
      command: "head -c 300000 /dev/urandom; echo; printf '\\r\\n{\"jsonrpc\"'; echo x >&2",
    });
    await server.call(2, "exec", { command: "echo direct > /proc/$PPID/fd/1 || true" });
    await server.ask(3, "tools/list");
    expect(server.messages().map(({ id }) => id)).toEqual([0, 1, 2, 3]);
  });

  it.each([
    ["with the first call", {}],
    ["with the check of their options at the start", { python: "python3" }],
  ])("carries nothing that packages write to stdout, loaded %s", async (_when, options) => {
    const loud = join(folder.folder, "node_modules", "loud-provider");
    await mkdir(loud, { recursive: true });
    const config = join(folder.folder, "loud.json");
    await writeFile(config, JSON.stringify({ provider: "loud-provider", options }));
    const source = [
      'console.log("a banner");',
      'process.stdout.write("part of a line");',
      'export * from "../local-provider/index.js";',
      "process.stdout.write(new TextEncoder().encode('bytes\\n'));",
    ];
    await writeFile(join(loud, "index.mjs"), source.join("\n"));
    await writeFile(join(loud, "package.json"), JSON.stringify({ name: "loud-provider", exports: "./index.mjs" }));
    await using server = new RawServer(["--config", config]);
    await server.initialize();
    expect(await server.call(1, "exec", { command: "echo fine" })).toContain("fine");
    expect(server.messages().map(({ id }) => id)).toEqual([0, 1]);
    expect(server.stderr).toMatch(/a banner\npart of a linebytes/);
  });

  it("survives lines that are no messages", async () => {
    await using server = start();
    server.child.stdin.write("hello\n{}\n[1]\n\n\u0000\n");
    for (const message of [
      { id: 7, method: "ping", params: "x" },
      { id: 8 },
      { id: true, method: "ping" },
      { id: 9, method: "ping", more: 1 },
      { id: 10, method: "ping", params: { _meta: "x" } },
      { id: 11, result: 5 },
    ])
      server.send(message);
    await server.initialize();
    // Who sent one of them waits for no answer in vain.
    expect(server.messages().map(({ id, error }) => [id, (error as { code?: number } | undefined)?.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32700],
      [7, -32600],
      [8, -32600],
      [null, -32600],
      [9, -32600],
      [10, -32600],
      [null, -32600],
      [0, undefined],
    ]);
    expect(await server.call(1, "exec", { command: "echo fine" })).toContain("fine");
    // What is wrong with each is told in one line.
    expect(server.stderr.trimEnd().split("\n")).toSatisfy((lines: string[]) =>
      lines.every((line) => JSON.parse(line).message === "protocol" && line.length < 2_300),
    );
  });

  it("answers a message above the limit with an error and goes on", async () => {
    await using server = start();
    await server.initialize();
    expect(await server.call(1, "write_file", { path: "x", content: "x".repeat(1e7) })).toMatch(/^TOO_LARGE: content/);
    const answer = await server.ask(2, "tools/call", { name: "exec", arguments: { command: "x".repeat(4e7) } });
    expect(answer.error).toMatchObject({ message: expect.stringMatching(/^TOO_LARGE: the message is above/) });
    expect(await server.call(3, "exec", { command: "echo fine" })).toContain("fine");
  });
});

describe("the command line", () => {
  it.each([
    [["--bogus"], /bogus.*see sandkit-mcp --help/s],
    [["serve"], /say stdio or http/],
    [["stdio", "--port", "1"], /go with http/],
    [["http", "--port", "x"], /--port x: a number/],
    [["--config", "/none.json"], /config \/none\.json: no such file/],
    [["http", "--host", "127.0.0.1"], /SANDKIT_TOKEN holds a character/],
    [["http", "--host", "0.0.0.0"], /0\.0\.0\.0 is open to others: set SANDKIT_TOKEN/],
  ])("ends with 2 for %j and says why", async (args, message) => {
    await using server = new RawServer(args, args.includes("127.0.0.1") ? { SANDKIT_TOKEN: "a b" } : {});
    expect(await server.exited).toEqual([2, null]);
    expect(server.stderr).toMatch(message);
    expect(server.stdout).toBe("");
  });

  it("prints help and version", async () => {
    await using help = new RawServer(["--help"]);
    await using version = new RawServer(["--version"]);
    expect(await help.exited).toEqual([0, null]);
    expect(help.stdout).toMatch(/^Usage: sandkit-mcp/);
    expect(await version.exited).toEqual([0, null]);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
