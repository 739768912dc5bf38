import { setTimeout as sleep } from "node:timers/promises";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHttp } from "../src/http/listen.js";
import { type Connection, callTool, connect, recordOf, textOf } from "./support/connect.js";
import { localConfig } from "./support/local-config.js";
import { program, serverEnv } from "./support/spawn-server.js";

describe("resources", () => {
  let server: Connection;
  let sandbox: string;
  let workdir: string;
  beforeAll(async () => {
    server = await connect({ maxInputBytes: 10_000 });
    const made = await exec(
      "mkdir -p 'o ut/sub' out; echo inside > out/in.txt; ln -s in.txt out/link; ln -s /etc/passwd out/leave; ln -s / root; ln -s loop loop; ln -s ../.. out/up; printf '\\303\\244' > 'o ut/tä%b'; head -c 20000 /dev/zero > large; pwd",
    );
    sandbox = String(recordOf(made).sandbox);
    workdir = /^\/.*$/m.exec(textOf(made))?.[0] ?? "";
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const exec = (command: string, more: Record<string, unknown> = {}) => server.call("exec", { command, ...more });
  const read = async (uri: string) => (await server.client.readResource({ uri })).contents[0];
  const file = (path: string) => `sandbox://${sandbox}${workdir}/${path}`;

  it("are files below the working directory, whatever link leads there", async () => {
    expect(await read(file("out/in.txt"))).toMatchObject({ text: "inside\n", mimeType: "text/plain" });
    expect(await read(file("out/link"))).toMatchObject({ text: "inside\n" });
    expect(await read(file("o%20ut/t%C3%A4%25b"))).toMatchObject({ text: "ä" });
    expect(await read(file("out/./../out/in.txt"))).toMatchObject({ text: "inside\n" });
  });

  it.each([
    ["a link out", "out/leave"],
    ["a link to everything", "root/etc/passwd"],
    ["a link upwards", "out/up"],
    ["dots", "../../../../../../etc/passwd"],
    ["encoded dots", "%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd"],
    ["encoded slashes", "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd"],
  ])("are confined to it: %s", async (_, path) => {
    await expect(read(file(path))).rejects.toThrow(/PERMISSION: .* leads out of the working directory .*read_file/);
  });

  it("are told apart from what does not exist, is no file, or is too large", async () => {
    await expect(read(`sandbox://${sandbox}/etc/passwd`)).rejects.toThrow(/PERMISSION: /);
    for (const uri of [file("none"), file("loop"), file("%252e%252e"), file("C:%5Cx"), "file:///etc/passwd"]) {
      await expect(read(uri)).rejects.toThrow(/not found/i);
    }
    for (const uri of [`sandbox://${sandbox}`, `sandbox://${sandbox}/%zz`, "sandbox:///etc", "run://p-1/other"]) {
      await expect(read(uri)).rejects.toThrow(/not found/i);
    }
    for (const ask of [read, (uri: string) => server.client.subscribeResource({ uri })]) {
      // The address of megabytes is neither held nor sent back.
      await expect(ask(file("a/".repeat(1e6)))).rejects.toThrow(
        /^.{0,60}the URI has 2\d{6} characters, above the limit/,
      );
    }
    await expect(read(file("a%00b"))).rejects.toThrow(/INVALID: .*NUL/);
    await expect(read(file("out"))).rejects.toThrow(/IS_DIRECTORY: /);
    await expect(read(file("large"))).rejects.toThrow(/TOO_LARGE: .*read_file/);
    await expect(read("sandbox://elsewhere/etc/passwd")).rejects.toThrow(/NOT_FOUND: there is no sandbox/);
    await expect(read("run://p-1/stdout")).rejects.toThrow(/NOT_FOUND: there is no process/);
  });

  it("are found by templates and completed", async () => {
    const { resourceTemplates } = await server.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([
      { uriTemplate: "sandbox://{sandbox_id}/{+path}" },
      { uriTemplate: "run://{process}/{stream}" },
    ]);
    const complete = async (template: number, name: string, value: string, given?: Record<string, string>) => {
      const { completion } = await server.client.complete({
        ref: { type: "ref/resource", uri: resourceTemplates[template]?.uriTemplate ?? "" },
        argument: { name, value },
        ...(given && { context: { arguments: given } }),
      });
      return completion.values;
    };
    expect(await complete(0, "sandbox_id", sandbox.slice(0, 4))).toEqual([sandbox]);
    expect(await complete(0, "sandbox_id", "other")).toEqual([]);
    const given = { sandbox_id: sandbox };
    const inside = workdir.slice(1);
    expect(await complete(0, "path", "", given)).toContain(`${inside}/out/`);
    expect(await complete(0, "path", `${inside}/o`, given)).toEqual([`${inside}/o ut/`, `${inside}/out/`]);
    expect(await complete(0, "path", `${inside}/out/i`, given)).toEqual([`${inside}/out/in.txt`]);
    await expect(complete(0, "path", "etc/", given)).rejects.toThrow(/PERMISSION: /);
    await expect(complete(0, "path", "", { sandbox_id: "elsewhere" })).rejects.toThrow(/NOT_FOUND: /);
    expect(await complete(1, "stream", "std")).toEqual(["stdout", "stderr"]);
  });

  it("are listed page by page, without the hidden ones and without a use of their sandbox", async () => {
    await exec("mkdir many .hidden && cd many && touch $(seq -w 150) ../.hidden/file");
    const first = await server.client.listResources();
    expect(first.resources).toHaveLength(100);
    const next = await server.client.listResources({ cursor: first.nextCursor });
    expect(next.nextCursor).toBeUndefined();
    const all = [...first.resources, ...next.resources];
    expect(new Set(all.map(({ uri }) => uri)).size).toBe(all.length);
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["in.txt", "tä%b", "large", "001", "150"]));
    expect(all.filter(({ uri }) => uri.includes(".hidden"))).toEqual([]);
    const listed = all.find(({ name }) => name === "in.txt");
    expect(listed).toMatchObject({ uri: file("out/in.txt"), mimeType: "text/plain", size: 7 });
    expect(await read(listed?.uri ?? "")).toMatchObject({ text: "inside\n" });
    await expect(server.client.listResources({ cursor: "-1" })).rejects.toThrow(/this cursor was not given here/);
  });

  it("are the logs of runs that outlast their call, while they write and after", async () => {
    const first = await exec("echo one; echo bad >&2; while [ ! -e .go ]; do sleep 0.05; done; seq 2000", {
      interactive: true,
    });
    const log = (stream: string) => read(`run://${recordOf(first).process}/${stream}`);
    expect(first.content.at(-1)).toMatchObject({
      type: "resource_link",
      uri: `run://${recordOf(first).process}/output`,
    });
    const [own] = (await server.client.listResources()).resources;
    expect(own).toMatchObject({
      uri: `run://${recordOf(first).process}/output`,
      description: expect.stringMatching(/^echo one/),
    });
    expect(await log("stdout")).toMatchObject({ text: "one\n" });
    expect(await log("stderr")).toMatchObject({ text: "bad\n" });
    await exec("touch .go");
    await server.call("process", { process: recordOf(first).process, wait_s: 20 });
    expect(await log("stdout")).toMatchObject({ text: expect.stringMatching(/^one\n1\n2\n.*\n2000\n$/s) });
    expect(await log("output")).toMatchObject({ text: expect.stringMatching(/^one\nbad\n1\n/) });
  });

  it("that are subscribed to are told to have changed, and no others", async () => {
    const told: string[] = [];
    server.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri));
    const first = await exec("while [ ! -e .on ]; do sleep 0.05; done; echo news; echo x > left; echo y > other", {
      wait_s: 0,
    });
    const log = `run://${recordOf(first).process}/stdout`;
    for (const uri of [log, file("left"), file("written")]) await server.client.subscribeResource({ uri });
    await server.call("write_file", { path: "written", content: "x" });
    await exec("touch .on");
    await server.call("process", { process: recordOf(first).process, wait_s: 20 });
    expect(new Set(told)).toEqual(new Set([log, file("left"), file("written")]));
    for (const uri of [log, file("left"), file("written")]) await server.client.unsubscribeResource({ uri });
    const before = told.length;
    await exec("echo again > left");
    expect(told).toHaveLength(before);
    await expect(server.client.subscribeResource({ uri: "file:///etc/passwd" })).rejects.toThrow(/not found/i);
  });
});

it("a client of the newer protocol listens for changes of the resources that it names", async () => {
  await using folder = await localConfig();
  const client = new ModernClient({ name: "modern", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new ModernStdio({ command: process.execPath, args: [program, "--config", folder.path], env: serverEnv }),
  );
  const told: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  const call = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input });
  const first = await call("exec", { command: "while [ ! -e .on ]; do sleep 0.05; done; echo news", wait_s: 1 });
  const { process: id } = recordOf(first) as { process: string };
  const wanted = `run://${id}/stdout`;
  await client.listen({ resourceSubscriptions: [wanted] });
  await call("exec", { command: "touch .on" });
  await call("process", { process: id, wait_s: 20 });
  for (let n = 0; n < 100 && told.length === 0; n++) await sleep(50);
  expect(new Set(told)).toEqual(new Set([wanted]));
  await client.close();
});

it("clients of both protocols over HTTP are told of changes, and the older one of output once it sets a level", async () => {
  await using folder = await localConfig();
  const { config, path: configPath } = await folder.load();
  const server = await serveHttp({ config, configPath, token: "alice:a" });
  const url = new URL(server.url);
  const authorized = { requestInit: { headers: { Authorization: "Bearer a" } } };
  const older = new Client({ name: "older", version: "1" });
  const newer = new ModernClient({ name: "newer", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const told: Record<"older" | "newer", string[]> = { older: [], newer: [] };
  const logged: [string, unknown][] = [];
  older.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.older.push(params.uri));
  older.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void logged.push([params.level, params.data]),
  );
  newer.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.newer.push(params.uri));
  try {
    await older.connect(new StreamableHTTPClientTransport(url, authorized));
    await newer.connect(new ModernHttp(url, authorized));
    const call = (input: Record<string, unknown>) => callTool(older, "exec", input);
    const first = await call({ command: "while [ ! -e .on ]; do sleep 0.05; done; echo news", wait_s: 1 });
    const { process: id, sandbox: sandbox_id } = recordOf(first);
    const uri = `run://${id}/stdout`;
    await older.subscribeResource({ uri });
    await newer.listen({ resourceSubscriptions: [uri] });
    await call({ command: "echo untold; touch .on", sandbox_id });
    await callTool(older, "process", { process: id, wait_s: 20 });
    for (let n = 0; n < 100 && (told.older.length === 0 || told.newer.length === 0); n++) await sleep(50);
    expect([new Set(told.older), new Set(told.newer)]).toEqual([new Set([uri]), new Set([uri])]);
    expect(logged).toEqual([]);
    await older.setLoggingLevel("warning");
    await call({ command: "echo fine; echo bad >&2", sandbox_id });
    expect(logged).toEqual([["warning", "bad\n"]]);
    await older.setLoggingLevel("debug");
    await call({ command: "echo fine", sandbox_id });
    expect(logged.slice(1)).toEqual([["info", "fine\n"]]);
  } finally {
    await Promise.all([older.close(), newer.close()]);
    await server.close();
  }
});
