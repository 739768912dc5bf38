import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { textOf } from "./support/connect.js";

const users = ["ann", "ben", "cem", "dea"];
const clients = 100;
/** In `npm run bench -- mcp` there are 20. */
const calls = 3;

let server: HttpServer;
beforeAll(async () => {
  const config = configSchema.parse({ maxRuns: 1_000, fileLinks: false });
  server = await serveHttp({ config, token: users.map((user) => `${user}:token-of-${user}`) });
});
afterAll(() => server.close());

async function connect(at: number): Promise<Client> {
  const mode = at % 2 === 0 ? "auto" : "legacy";
  const client = new Client({ name: `client-${at}`, version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer token-of-${users[at % users.length]}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
  return client;
}

async function call(client: Client, name: string, input: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: input });
  const text = textOf(result as Parameters<typeof textOf>[0]);
  if (result.isError) throw new Error(text);
  return text;
}

it("each of 100 clients of both eras gets all of its own answers and nobody else's", async () => {
  const all = await Promise.all(Array.from({ length: clients }, (_, at) => connect(at)));
  // One sandbox for each user, which the user's clients share.
  const boxes = await Promise.all(
    users.map(async (_, at) => {
      const client = all[at];
      if (client === undefined) throw new Error("there is a client for each user");
      return /^sandbox_id: (\S+)/.exec(await call(client, "create_sandbox", {}))?.[1];
    }),
  );
  const answers = await Promise.all(
    all.map(async (client, at) => {
      const sandbox_id = boxes[at % users.length];
      const path = `file-of-${at}.txt`;
      await call(client, "write_file", { sandbox_id, path, content: `line of ${at}` });
      const texts: string[] = [];
      for (let turn = 0; turn < calls - 2; turn++) {
        texts.push(await call(client, "run_code", { sandbox_id, code: `"answer", ${at}, ${turn}` }));
      }
      return [...texts, await call(client, "read_file", { sandbox_id, path })];
    }),
  );
  for (const [at, texts] of answers.entries()) {
    const wanted = Array.from({ length: calls - 2 }, (_, turn) => `[value]\n('answer', ${at}, ${turn})`);
    expect(texts.map((text) => text.slice(text.indexOf("[value]"))).slice(0, -1)).toEqual(wanted);
    expect(texts.at(-1)).toContain(`line of ${at}`);
  }
  await Promise.all(all.map((client) => client.close()));
}, 120_000);
