import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { docker } from "@sandkit/provider-docker";
import { expect, it } from "vitest";
import { recordOf, textOf } from "./support/connect.js";
import { RawServer } from "./support/spawn-server.js";

const hasEngine = process.env.SANDKIT_TEST_ENGINE === "1";
if (!hasEngine) console.warn("SKIPPED: a killed replica is not tested: no container engine answers");
const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const leaseMs = 3_000;
const idleSeconds = 5;
const options = { images: { python: image }, pull: "never", leaseMs } as const;
const provider = docker(options);

/** One of several servers, as a process that can be killed, and a client of it. */
class Replica implements AsyncDisposable {
  readonly #server: RawServer;
  readonly #client: Client;

  private constructor(server: RawServer, client: Client) {
    this.#server = server;
    this.#client = client;
  }

  static async start(folder: string, replica: string): Promise<Replica> {
    const config = join(folder, `${replica}.json`);
    await writeFile(config, JSON.stringify({ provider: "docker", options, detached: true, replica, idleSeconds }));
    const env = { SANDKIT_TOKEN: "t0ken", SANDKIT_SECRET: "a secret of all replicas" };
    const server = new RawServer(["http", "--port", "0", "--config", config], env);
    let url: string | undefined;
    while (url === undefined) {
      await sleep(20);
      url = /listens at (\S+)/.exec(server.stderr)?.[1];
    }
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { Authorization: "Bearer t0ken" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return new Replica(server, client);
  }

  async call(name: string, input: Record<string, unknown> = {}): Promise<CallToolResult> {
    return (await this.#client.callTool({ name, arguments: input })) as CallToolResult;
  }

  async say(name: string, input: Record<string, unknown> = {}): Promise<string> {
    return textOf(await this.call(name, input));
  }

  async create(): Promise<string> {
    return ((await this.call("create_sandbox")).structuredContent as { sandbox_id: string }).sandbox_id;
  }

  /** As the system does it when memory runs out: nothing of it is asked. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.#client.close();
  }
}

/** What is left of them at the engine. */
async function left(): Promise<string[]> {
  const ids = [];
  for (const replica of ["doomed", "second"])
    for await (const { ref } of provider.list({ labels: { "mcp-replica": replica } })) ids.push(ref.id);
  return ids;
}

it.skipIf(!hasEngine)(
  "a killed replica's sandboxes are served by another, end when idle, and leave nothing once no replica lives",
  { timeout: 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "sandkit-killed-"));
    const [doomed, second] = await Promise.all([Replica.start(folder, "doomed"), Replica.start(folder, "second")]);
    try {
      const sandbox_id = await doomed.create();
      await doomed.call("write_file", { path: "kept", content: "of the dead", sandbox_id });
      await doomed.call("run_code", { code: "x = 41", sandbox_id });
      const going = await doomed.call("exec", { command: "sleep 600.5", wait_s: 0.5, sandbox_id });
      const { process: held } = recordOf(going) as { process: string };
      await doomed[Symbol.asyncDispose]();

      // Files and commands go on; of what it alone held the other says whose it was.
      expect(await second.say("exec", { command: "cat kept", sandbox_id })).toContain("of the dead");
      expect(await second.say("list_sandboxes")).toContain(sandbox_id);
      const variables = await second.say("run_code", { code: "x", sandbox_id });
      expect(variables).toMatch(/^UNAVAILABLE: .* belong to the server "doomed", .*work with exec and files here/);
      expect(await second.say("process", { process: held })).toMatch(/^UNAVAILABLE: .* belongs to the server "doomed"/);
      // Its program goes on, and keeps the sandbox from being idle: who works in it may end it.
      const end =
        "for p in /proc/[0-9]*; do grep -aqs 'sleep.600[.]5' $p/cmdline && kill -9 $(basename $p); done; true";
      expect(await second.say("exec", { command: end, sandbox_id })).toMatch(/^Exited with code 0/);

      // Unused it ends by itself, whoever is connected to it; a list is no use.
      while ((await second.say("list_sandboxes")).includes(sandbox_id)) await sleep(500);
      expect(await second.say("exec", { command: "true", sandbox_id })).toMatch(
        new RegExp(`^EXPIRED: .* is gone \\(it was not used for ${idleSeconds} s.*make one with create_sandbox`),
      );
      expect(await left()).toEqual([]);

      await second.create();
      expect(await left()).toHaveLength(1);
      await second[Symbol.asyncDispose]();
      while ((await left()).length > 0) await sleep(200);
    } finally {
      await Promise.all([doomed[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
      await rm(folder, { recursive: true });
    }
  },
);
