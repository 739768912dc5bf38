import { InMemoryTransport } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localPrincipal } from "../src/principal.js";
import { Runtime } from "../src/runtime.js";
import { createServer } from "../src/server.js";
import { type Connection, connect, recordOf, textOf } from "./support/connect.js";
import { localConfig } from "./support/local-config.js";

describe("files that a run leaves", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connect({ maxInputBytes: 10_000 });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const exec = (command: string) => server.call("exec", { command });
  const linksOf = ({ content }: Awaited<ReturnType<typeof exec>>) =>
    content.filter((block) => block.type === "resource_link");

  it("are named and linked, once, and can be read by their link", async () => {
    const result = await exec("mkdir -p 'o ut'; printf 'a,b\\n1,é\\n' > 'o ut/täble.csv'; printf '\\377' > raw");
    expect(textOf(result)).toMatch(/\[files written\] .*\/o ut\/täble\.csv \(9 bytes\), .*\/raw \(1 bytes\)/);
    const links = linksOf(result);
    expect(links).toHaveLength(2);
    expect(links[0]).toMatchObject({ name: "täble.csv", mimeType: "text/csv", size: 9 });
    const uris = links.map(({ uri }) => uri);
    expect(uris[0]).toContain(`sandbox://${recordOf(result).sandbox}/`);
    const [table] = (await server.client.readResource({ uri: uris[0] ?? "" })).contents;
    expect(table).toEqual({ uri: uris[0], mimeType: "text/csv", text: "a,b\n1,é\n" });
    const [raw] = (await server.client.readResource({ uri: uris[1] ?? "" })).contents;
    expect(raw).toEqual({ uri: uris[1], blob: "/w==" });
    expect(linksOf(await exec("true"))).toEqual([]);
    expect(linksOf(await exec("printf more >> raw"))).toMatchObject([{ name: "raw", size: 5 }]);
    // A name cannot pass for a part of the answer.
    const odd = await exec("printf x > \"$(printf 'a\\n[b]\\342\\200\\256')\"");
    expect(textOf(odd)).toMatch(/\[files written\] \S+\/a\\u\{a\}\[b\]\\u\{202e\} \(1 bytes\)$/m);
    expect(linksOf(odd)).toMatchObject([{ uri: expect.stringContaining("/a%0A%5Bb%5D%E2%80%AE") }]);
    expect(textOf(await server.call("read_file", { path: "." }))).toContain("\na\\u{a}[b]\\u{202e}  1 bytes\n");
  });

  it("are not those that the model wrote itself, nor what tools keep for themselves", async () => {
    await exec("true");
    await server.call("write_file", { path: "own.txt", content: "x" });
    const result = await exec("mkdir -p .cache __pycache__ node_modules; touch .cache/a __pycache__/b node_modules/c");
    expect(linksOf(result)).toEqual([]);
    expect(textOf(result)).not.toContain("files written");
  });

  it("are linked up to a number, the rest counted", async () => {
    const result = await exec("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo $i > many-$i; done");
    expect(linksOf(result)).toHaveLength(10);
    expect(textOf(result)).toMatch(/and 3 more$/m);
  });
});

it("links come only to clients whose protocol knows them, and not when they are switched off", async () => {
  await using folder = await localConfig();
  const { config, path: configPath } = await folder.load();
  const runtime = new Runtime({ config, configPath, implicit: "default" });
  for (const [protocolVersion, file, expected] of [
    ["2025-06-18", "first", 2],
    ["2024-11-05", "second", 1],
  ] as const) {
    // By hand: clients of today ask for the newest protocol that they know.
    const [client, server] = InMemoryTransport.createLinkedPair();
    await createServer(runtime, localPrincipal("test")).connect(server);
    const ask = (id: number, method: string, params: Record<string, unknown>) =>
      new Promise<unknown>((resolve, reject) => {
        client.onmessage = (message) => resolve("result" in message ? message.result : message);
        client.send({ jsonrpc: "2.0", id, method, params }).catch(reject);
      });
    await ask(0, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "old", version: "1" } });
    await client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const result = await ask(1, "tools/call", { name: "exec", arguments: { command: `echo > ${file}` } });
    expect((result as { content: unknown[] }).content).toHaveLength(expected);
    await client.close();
  }
  await runtime.close();
  await using off = await connect({ fileLinks: false });
  expect((await off.call("exec", { command: "echo > file" })).content).toHaveLength(1);
});
