import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { docker } from "@sandkit/provider-docker";
import { expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { serveHttp } from "../src/http/listen.js";
import { textOf } from "./support/connect.js";

const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const options = { images: { python: image }, pull: "never" } as const;

async function engineAnswers(): Promise<boolean> {
  const { ok, detail } = await docker(options).check();
  if (!ok && process.env.CI) throw new Error(`CI has no container engine: ${detail}`);
  if (!ok) console.warn(`SKIPPED: snapshots are not tested: ${detail}`);
  return ok;
}

/** A server over HTTP, with a client of each of two users. */
async function serve(maxSnapshots: number) {
  const config = configSchema.parse({ provider: "docker", options, tools: ["snapshot"], maxSnapshots });
  const server = await serveHttp({ config, secret: "a secret that stays the same", token: ["alice:a", "bob:b"] });
  const connect = async (token: string) => {
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    return client;
  };
  const [alice, bob] = await Promise.all([connect("a"), connect("b")]);
  return {
    alice,
    bob,
    async [Symbol.asyncDispose]() {
      await Promise.all([alice.close(), bob.close()]);
      await server.close();
    },
  };
}

async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: input })) as CallToolResult;
}

async function say(client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  return textOf(await call(client, name, input));
}

async function idFrom(client: Client, name: string, key: string, input: Record<string, unknown> = {}) {
  const result = await call(client, name, input);
  const id = (result.structuredContent as Record<string, unknown> | undefined)?.[key];
  if (typeof id !== "string") throw new Error(`no ${key}: ${textOf(result)}`);
  return id;
}

it.skipIf(!(await engineAnswers()))(
  "a user has so many snapshots, also after a restart, and makes room by removing one",
  { timeout: 120_000 },
  async () => {
    const taken: string[] = [];
    const take = async (client: Client, sandbox_id: string) => {
      taken.push(await idFrom(client, "snapshot", "snapshot", { sandbox_id }));
      return taken.at(-1) ?? "";
    };
    const removeAll = async (client: Client) => {
      for (const snapshot of taken.splice(0)) await call(client, "snapshot", { remove: snapshot });
    };
    {
      await using server = await serve(2);
      const sandbox_id = await idFrom(server.alice, "create_sandbox", "sandbox_id");
      await call(server.alice, "write_file", { path: "kept", content: "as it was", sandbox_id });
      const first = await take(server.alice, sandbox_id);
      // Two at once, for one place: one of them is refused.
      const both = await Promise.all([1, 2].map(() => call(server.alice, "snapshot", { sandbox_id })));
      const refused = both.filter(({ isError }) => isError);
      expect(refused.map(textOf)).toEqual([expect.stringMatching(/^QUOTA: you have 2 snapshots.*maxSnapshots/)]);
      for (const { structuredContent } of both.filter(({ isError }) => !isError)) {
        taken.push(String((structuredContent as { snapshot: string }).snapshot));
      }
      expect(await say(server.alice, "snapshot", { sandbox_id })).toContain(first);

      // Another user has a count of their own, and cannot tell this one's from what never was.
      const theirs = await idFrom(server.bob, "snapshot", "snapshot");
      expect(await say(server.bob, "snapshot", { remove: first })).toMatch(/^NOT_FOUND: there is no snapshot/);
      expect(await say(server.bob, "snapshot", { remove: theirs })).toBe(`Snapshot ${theirs} is removed.`);
      expect(await say(server.bob, "snapshot", { remove: theirs, sandbox_id })).toMatch(/^INVALID: .*not both/);
    }
    await using server = await serve(2);
    try {
      const snapshot = taken[0] ?? "";
      const sandbox_id = await idFrom(server.alice, "create_sandbox", "sandbox_id", { snapshot });
      expect(await say(server.alice, "read_file", { path: "kept", sandbox_id })).toContain("as it was");
      expect(await say(server.alice, "snapshot", { sandbox_id })).toMatch(/^QUOTA: .*snapshot \(remove\): snapshot-/);
      expect(await say(server.alice, "snapshot", { remove: taken.pop() })).toMatch(/^Snapshot .* is removed\.$/);
      await take(server.alice, sandbox_id);
    } finally {
      await removeAll(server.alice);
    }
  },
);
