import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { docker } from "@sandkit/provider-docker";
import Dockerode from "dockerode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const images = {
  python: process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test",
  data: process.env.SANDKIT_TEST_IMAGE_DATA ?? "sandkit/data:test",
};
const cli = fileURLToPath(import.meta.resolve("sandkit/bin/sandkit.js"));

const { ok: engineAnswers, detail } = await docker().check();
if (!engineAnswers && process.env.CI) throw new Error(`CI has no container engine: ${detail}`);
if (!engineAnswers) console.warn(`SKIPPED: no container engine, so the server is not tested with Docker: ${detail}`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-mcp-docker-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function connect(config: object) {
  const path = join(folder, "config.json");
  await writeFile(path, JSON.stringify(config));
  const client = new Client({ name: "docker", version: "1.0.0" });
  const transport = new StdioClientTransport({ command: process.execPath, args: [cli, "mcp", "--config", path] });
  await client.connect(transport);
  return { client, server: transport.pid };
}

/** How many containers a server has, living or not. */
async function containersOf(server: number | null): Promise<number> {
  const all = await new Dockerode().listContainers({ all: true });
  return all.filter(({ Labels }) => Labels["sandkit.owner"]?.split(":")[1] === String(server)).length;
}

describe.skipIf(!engineAnswers)("the server with Docker behind it", () => {
  it("runs code and commands, shows a figure, and leaves nothing when its client has gone", {
    timeout: 120_000,
  }, async () => {
    const { client, server } = await connect({
      provider: "docker",
      options: { images },
      defaults: { template: "data" },
    });
    const call = (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
    expect(await call("run_code", { language: "python", code: "import os; os.getuid() > 0" })).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("True") }],
    });
    expect(await call("exec", { command: "pwd; cd /app && touch there && ls" })).toMatchObject({
      content: [{ type: "text", text: expect.stringMatching(/\/workspace\nthere/) }],
    });
    const figure = await call("run_code", {
      language: "python",
      code: "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9]);",
      timeout: 60,
    });
    expect(figure.content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
    expect(await containersOf(server)).toBe(1);
    await client.close();
    for (let round = 0; round < 100 && (await containersOf(server)) > 0; round++) await setTimeout(100);
    expect(await containersOf(server)).toBe(0);
  });
});

it("answers at once without an engine, and says at the first use how to get one", async () => {
  const { client } = await connect({ provider: "docker", options: { host: "unix:///nonexistent/engine.sock" } });
  const result = await client.callTool({ name: "exec", arguments: { command: "true" } });
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringMatching(/UNAVAILABLE.*engine/s) }],
  });
  await client.close();
});
