import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type DaytonaEmulator, type E2BEmulator, startDaytona, startE2B } from "@sandkit/cloud-emulator";
import { local } from "@sandkit/provider-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, environment, start } from "./sandkit.js";

let folder = "";
let e2b: E2BEmulator;
let daytona: DaytonaEmulator;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-clouds-"));
  // Plain processes, which have the network of this machine, whatever is wished.
  const machines = { provider: local(), network: "record" } as const;
  [e2b, daytona] = await Promise.all([startE2B(machines), startDaytona(machines)]);
  // Both users of E2B are the one user of an emulated machine.
  const options = { apiUrl: e2b.url, sandboxUrl: e2b.url, user: "root" };
  await writeFile(join(folder, "e2b.json"), JSON.stringify({ provider: "e2b", options }));
});

afterAll(async () => {
  await Promise.all([e2b.close(), daytona.close()]);
  await rm(folder, { recursive: true });
});

/** E2B by a config file, Daytona by the environment alone. */
const clouds = {
  e2b: { args: () => ["--config", join(folder, "e2b.json")], env: () => ({}), key: "E2B_API_KEY" },
  daytona: {
    args: () => [],
    env: () => ({ SANDKIT_PROVIDER: "daytona", DAYTONA_API_URL: daytona.url, DAYTONA_TARGET: "us" }),
    key: "DAYTONA_API_KEY",
  },
} as const;

describe.each(["e2b", "daytona"] as const)(
  "a config line for %s",
  (name) => {
    const { args, env, key } = clouds[name];
    const apiKey = () => ({ e2b, daytona })[name].apiKey;

    async function withServer(keyed: boolean, work: (client: Client) => Promise<void>): Promise<void> {
      const client = new Client({ name: "test", version: "1.0.0" });
      const own = { ...environment, ...env(), ...(keyed && { [key]: apiKey() }) };
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [bin, "mcp", ...args()],
        env: own,
      });
      await client.connect(transport);
      try {
        await work(client);
      } finally {
        await client.close();
      }
    }

    it("is all that `sandkit run` needs", async () => {
      const program = "print(6 * 7); raise SystemExit(3)";
      const all = ["run", ...args(), "-e", program];
      const { code, stdout, stderr } = await start(all, { ...env(), [key]: apiKey() }).outcome;
      expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "42\n" });
      const { stdout: left } = await start(["ls", ...args(), "--json"], { ...env(), [key]: apiKey() }).outcome;
      expect(JSON.parse(left)).toEqual({ provider: name, sandboxes: [] });
    });

    it("is all that the MCP server needs", async () => {
      await withServer(true, async (client) => {
        const code = "squares = [n * n for n in range(10)]; sum(squares)";
        const cell = await client.callTool({ name: "run_code", arguments: { code } });
        expect(JSON.stringify(cell)).toContain("285");
        const again = await client.callTool({ name: "run_code", arguments: { code: "len(squares)" } });
        expect(JSON.stringify(again)).toContain("10");
      });
    });

    it("without a key starts all the same, and its first use says which variable to set", async () => {
      await withServer(false, async (client) => {
        expect((await client.listTools()).tools.length).toBeGreaterThan(3);
        const result = await client.callTool({ name: "exec", arguments: { command: "echo x" } });
        expect(result.isError).toBe(true);
        expect(JSON.stringify(result.content)).toContain(key);
      });
      const { code, stdout, stderr } = await start(["run", ...args(), "-e", "print(1)"], { ...env(), [key]: "" })
        .outcome;
      expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
      expect(stderr).toContain(key);
    });
  },
  60_000,
);
