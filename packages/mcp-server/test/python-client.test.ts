import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../src/http/listen.js";
import { loadConfig } from "../src/load-config.js";
import { toolNames } from "../src/tool-names.js";
import { program, serverEnv } from "./support/spawn-server.js";

/** Where the set-up of the tests has put the official client. */
const client = process.env.SANDKIT_TEST_MCP_PYTHON;
const drive = fileURLToPath(new URL("programs/python_client.py", import.meta.url));
const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const docker = { provider: "docker", options: { images: { python: image }, pull: "never" } };
const hasEngine = process.env.SANDKIT_TEST_ENGINE === "1";
if (!client) console.warn("SKIPPED: the Python client is not there: npm test installs it, and says why it cannot");

async function driven(setting: Record<string, unknown>): Promise<Record<string, unknown>> {
  const env = { ...process.env, PYTHONPATH: client };
  const { stdout } = await promisify(execFile)("python3", [drive, JSON.stringify(setting)], { env, timeout: 60_000 });
  return JSON.parse(stdout);
}

/** Both protocols, both ways to connect and both providers once; every pair of them takes its time. */
const all = process.env.SANDKIT_TEST_ALL === "1";

describe.skipIf(!client)("the Python client", () => {
  it.each([
    { on: "wasm", over: "stdio", mode: "legacy", protocol: "2025-11-25" },
    { on: "docker", over: "http", mode: "auto", protocol: "2026-07-28" },
    ...(all
      ? [
          { on: "docker", over: "stdio", mode: "auto", protocol: "2026-07-28" },
          { on: "wasm", over: "http", mode: "legacy", protocol: "2025-11-25" },
        ]
      : []),
  ])("runs, reads and approves on $on over $over, protocol of $protocol", { timeout: 90_000 }, async (way) => {
    if (way.on === "docker" && !hasEngine) return console.warn("SKIPPED: no container engine answers");
    const folder = await mkdtemp(join(tmpdir(), "sandkit-python-client-"));
    const path = join(folder, "config.json");
    await writeFile(path, JSON.stringify({ ...(way.on === "docker" ? docker : {}), approval: ["exec"] }));
    const { config } = await loadConfig({ configPath: path, env: {} });
    const http = way.over === "http" ? await serveHttp({ config, token: "t0ken" }) : undefined;
    const stdio = { command: process.execPath, args: [program, "--config", path], env: serverEnv };
    try {
      const seen = await driven({ mode: way.mode, ...(http ? { url: http.url, token: "t0ken" } : stdio) });
      expect(seen).toMatchObject({
        protocol: way.protocol,
        server: "sandkit",
        tools: toolNames,
        state: expect.stringMatching(/\b42\b/),
        pictures: ["image/png"],
        exec: expect.stringMatching(/^Exited with code 0.*from exec/s),
        asked: [expect.stringContaining("echo from exec")],
        written: "Wrote 9 bytes to left.txt.",
        resource: "left here",
        templates: ["sandbox://{sandbox_id}/{+path}", "run://{process}/{stream}"],
        wrong: [true, expect.stringMatching(/^FILE_NOT_FOUND: /)],
        destroyed: expect.stringMatching(/is destroyed\.$/),
      });
    } finally {
      await http?.close();
      await rm(folder, { recursive: true });
    }
  });
});
