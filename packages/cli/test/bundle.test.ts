import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import Dockerode from "dockerode";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnEngine } from "./engine.js";
import { environment } from "./sandkit.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const { version, mcpName } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8"));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-bundle-"));
  await promisify(execFile)(process.execPath, [join(root, "scripts/bundle.mjs"), join(folder, "build")]);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const json = async (path: string) => JSON.parse(await readFile(join(folder, path), "utf8"));

describe("the bundle", () => {
  it("is started by its manifest wherever it is unpacked, and runs code", { timeout: 120_000 }, async () => {
    const archive = await readFile(join(folder, "build", `sandkit-${version}.mcpb`));
    const place = join(folder, "some place");
    for (const [path, bytes] of Object.entries(unzipSync(archive))) {
      await mkdir(dirname(join(place, path)), { recursive: true });
      await writeFile(join(place, path), bytes);
    }
    const { server, tools, user_config: choices } = await json("some place/manifest.json");
    const filled = (text: string) =>
      text.replace(/\$\{(?:__dirname|user_config\.(\w+))\}/g, (_, name?: string) =>
        name ? choices[name].default : place,
      );
    const { command, args, env } = server.mcp_config;
    const own = Object.fromEntries(Object.entries<string>(env).map(([name, value]) => [name, filled(value)]));
    expect(own).toEqual({ SANDKIT_PROVIDER: "wasm", SANDKIT_CONFIG: "" });

    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(
      new StdioClientTransport({ command, args: args.map(filled), env: { ...environment, ...own }, cwd: tmpdir() }),
    );
    expect(client.getServerVersion()).toMatchObject({ name: "sandkit" });
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
    expect(names((await client.listTools()).tools)).toEqual(names(tools));
    const { content } = await client.callTool({ name: "run_code", arguments: { code: "2**100" } });
    expect(content).toMatchObject([{ text: expect.stringContaining("1267650600228229401496703205376") }]);
    await client.close();
  });

  it("is what server.json tells of", async () => {
    const archive = await readFile(join(folder, "build", `sandkit-${version}.mcpb`));
    const { name, packages } = await json("build/server.json");
    expect(name).toBe(mcpName);
    expect(packages).toMatchObject([
      { registryType: "npm", identifier: "sandkit", version },
      { registryType: "mcpb", fileSha256: createHash("sha256").update(archive).digest("hex") },
    ]);
    expect(await readFile(join(root, "Dockerfile"), "utf8")).toContain(`server.name="${mcpName}"`);
  });
});

describeOnEngine("the Dockerfile", () => {
  it("serves over HTTP as nobody, on a root that is read-only", { timeout: 120_000 }, async () => {
    const file = await readFile(join(root, "Dockerfile"), "utf8");
    const line = (start: string) =>
      file
        .split("\n")
        .find((text) => text.startsWith(start))
        ?.slice(start.length) ?? "";
    const health = line("HEALTHCHECK ").split("CMD ")[1] ?? "";
    // An image is made in the time of ten such tests: what it would hold is shown to the container instead.
    const engine = new Dockerode();
    const container = await engine.createContainer({
      Image: process.env.SANDKIT_TEST_IMAGE_BARE ?? "sandkit/bare:test",
      User: line("USER "),
      WorkingDir: line("WORKDIR "),
      Env: [...line("ENV ").split(" "), "SANDKIT_TOKEN=a-token-for-tests"],
      Entrypoint: JSON.parse(line("ENTRYPOINT ")),
      Cmd: JSON.parse(line("CMD ")),
      Healthcheck: { Test: ["CMD", ...JSON.parse(health)], Interval: 1_000_000_000, Timeout: 20_000_000_000 },
      HostConfig: {
        Binds: [
          `${process.execPath}:/usr/local/bin/node:ro`,
          `${join(folder, "build/bundle/server")}:${line("COPY ").split(" ")[1]}:ro`,
        ],
        ReadonlyRootfs: true,
        Tmpfs: { "/tmp": "" },
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
      },
    });
    try {
      await container.start();
      const state = async () => (await container.inspect()).State;
      while ((await state()).Health?.Status !== "healthy") {
        expect(await state()).toMatchObject({ Running: true });
        await sleep(300);
      }
      const { NetworkSettings } = await container.inspect();
      const address = Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? "";
      expect(await runCode(address, "another-token")).toMatchObject({ status: 401 });
      expect(await runCode(address, "a-token-for-tests")).toMatchObject({
        status: 200,
        text: expect.stringContaining("1267650600228229401496703205376"),
      });
      await container.stop({ t: 10 });
      expect(await state()).toMatchObject({ ExitCode: 0 });
    } finally {
      await container.remove({ force: true });
    }
  });
});

/** One call over HTTP, under the name that the server has for clients of its own machine. */
async function runCode(address: string, token: string): Promise<{ status: number | undefined; text: string }> {
  const protocol = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": protocol,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "run_code", arguments: { code: "2**100" }, _meta };
  const asked = request({
    host: address,
    port: 3333,
    path: "/mcp",
    method: "POST",
    headers: {
      Host: "localhost:3333",
      Authorization: `Bearer ${token}`,
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      "MCP-Protocol-Version": protocol,
      "MCP-Method": "tools/call",
      "MCP-Name": "run_code",
    },
  });
  asked.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  return await new Promise((resolve, reject) => {
    asked.on("error", reject);
    asked.on("response", async (response) => {
      let text = "";
      for await (const piece of response) text += String(piece);
      resolve({ status: response.statusCode, text });
    });
  });
}
