import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it } from "vitest";
import { bin, environment, start } from "./sandkit.js";

const local = ["--provider", "@sandkit/provider-local"];

it("serves a client over stdio", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin, "mcp", ...local], env: environment }),
  );
  const command = "python3 -c 'print(2**100)'";
  const { content } = await client.callTool({ name: "exec", arguments: { command } });
  expect(content).toMatchObject([{ type: "text", text: expect.stringContaining("1267650600228229401496703205376") }]);
  await client.close();
});

it("ends in order when its client goes away before the first message", async () => {
  const { child, outcome } = start(["mcp", ...local]);
  child.stdin.end();
  expect(await outcome).toMatchObject({ code: 0, stdout: "" });
});

it("serves over HTTP on this machine alone, and only who has the token", async () => {
  const running = start(["mcp", "http", "--port", "0", ...local]);
  await running.told("Authorization: Bearer ");
  const [url = "", token = ""] =
    /(http:\/\/127\.0\.0\.1:\d+\S*)\nAuthorization: Bearer (\S+)/.exec(running.stderr())?.slice(1) ?? [];
  const statusWith = async (headers: Record<string, string>) => (await fetch(url, { method: "POST", headers })).status;
  expect(await statusWith({})).toBe(401);
  expect(await statusWith({ Authorization: `Bearer ${token}` })).not.toBe(401);
  running.child.kill("SIGTERM");
  expect((await running.outcome).code).toBe(0);
});

it("refuses a config that is not there", async () => {
  const { code, stdout, stderr } = await start(["mcp", "--config", "/nowhere/config.json"]).outcome;
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("/nowhere/config.json");
});

it("shows what a client and the server say", async () => {
  const { code, stdout } = await start(["mcp", "example", ...local]).outcome;
  expect(stdout).toMatch(/^→ initialize .*\n← .*"serverInfo"/);
  expect(stdout).toContain('→ tools/list {}\n← {"tools":[{"name":"run_code"');
  expect(stdout.trimEnd().split("\n").at(-1)).toContain("285");
  expect(code).toBe(0);
});

it("asks for every sandbox with the packages of --deps", async () => {
  const { code, stdout } = await start(["mcp", "example", ...local, "--deps", "six[x,y]==0, idna"]).outcome;
  expect(stdout).toContain('UNSUPPORTED: option \\"packages\\"');
  expect(code).toBe(1);
});

it.each([
  [["mcp", "--deps", "a,,b"], "names of packages"],
  [["mcp", "example", "--port", "1"], "goes with http"],
])("%j is refused", async (args, what) => {
  expect(await start(args).outcome).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(what) });
});
