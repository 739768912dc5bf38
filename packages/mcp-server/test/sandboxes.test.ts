import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { serveHttp } from "../src/http/listen.js";
import { localPrincipal, openHandle, principalOf, sealHandle } from "../src/principal.js";
import { Runtime } from "../src/runtime.js";
import { type Connection, connect, recordOf, textOf } from "./support/connect.js";
import { localConfig } from "./support/local-config.js";
import { RawServer } from "./support/spawn-server.js";

const exec = (server: Connection, command: string, id?: string) =>
  server.call("exec", { command, ...(id === undefined ? {} : { sandbox_id: id }) });
const handles = async (server: Connection) => {
  const { sandboxes } = (await server.call("list_sandboxes")).structuredContent as {
    sandboxes: { sandbox_id: string; default: boolean }[];
  };
  return sandboxes;
};
const idOf = (text: string) => /Sandbox: (\S+)|sandbox_id: (\S+)/.exec(text)?.slice(1).find(Boolean) ?? "";

describe("over stdio, where calls share a default sandbox", () => {
  it("makes it at first use, once, for all tools, and lists it", async () => {
    await using server = await connect();
    expect(await handles(server)).toEqual([]);
    const results = await Promise.all([exec(server, "echo 1 > one"), exec(server, "echo 2 > two")]);
    await server.call("write_file", { path: "three", content: "3" });
    expect(textOf(await exec(server, "cat one two three"))).toMatch(/\n1\n2\n3$/);
    const [only, ...others] = await handles(server);
    expect(only).toMatchObject({ sandbox_id: recordOf(results[0] ?? {}).sandbox, default: true });
    expect(others).toEqual([]);
    expect(textOf(results[0] ?? { content: [] })).not.toContain("sandbox");
  });

  it("makes a new one when it has expired, and says first that earlier state is lost", async () => {
    await using server = await connect({ idleSeconds: 0.5 });
    await exec(server, "echo kept > file");
    await sleep(900);
    const result = await exec(server, "cat file || echo nothing");
    expect(textOf(result)).toMatch(
      /^Note: the earlier default sandbox is gone \(it was not used for 0\.5 s\)\. Its files and variables are lost; this ran in a new one\.\nExited with code 0/,
    );
    expect(textOf(await exec(server, "true"))).not.toContain("Note:");
  });

  it("says so before an error, too", async () => {
    await using server = await connect({ idleSeconds: 0.4 });
    await server.call("write_file", { path: "file", content: "x" });
    await sleep(800);
    const result = await server.call("read_file", { path: "file" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Note: the earlier default sandbox is gone .*\nFILE_NOT_FOUND: /);
  });

  it("is not idle while something runs in it", async () => {
    await using server = await connect({ idleSeconds: 0.5 });
    expect(textOf(await exec(server, "sleep 1.2; echo done"))).toContain("done");
    expect(textOf(await exec(server, "true"))).not.toContain("Note:");
  });

  it("is not idle while somebody uses a port of it, and is after that", async () => {
    const agent = { provider: "@sandkit/provider-local", options: { agent: "python" } };
    await using server = await connect({ ...agent, idleSeconds: 2, tools: ["expose_port"] });
    const code = [
      "import http.server, threading",
      "page = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)",
      "threading.Thread(target=page.serve_forever, daemon=True).start()",
      "page.server_port",
    ].join("\n");
    const port = Number(/\d+$/.exec(textOf(await server.call("run_code", { code })))?.[0]);
    const exposed = textOf(await server.call("expose_port", { port }));
    const [, url = "", name = "", token = ""] = /is at (\S+)\n.*: (\S+): (\S+)/.exec(exposed) ?? [];
    for (let visit = 0; visit < 10; visit++) {
      expect((await fetch(url, { headers: { [name]: token } })).status).toBe(200);
      await sleep(500);
    }
    expect(textOf(await exec(server, "true"))).not.toContain("Note:");
    await sleep(2_500);
    await expect(fetch(url, { headers: { [name]: token } })).rejects.toThrow();
    expect(textOf(await exec(server, "true"))).toContain("Note: the earlier default sandbox is gone");
  });

  it("tells a sandbox that has expired from one that never was", async () => {
    await using server = await connect({ idleSeconds: 0.4 });
    const made = await server.call("create_sandbox");
    const { sandbox_id: id } = made.structuredContent as { sandbox_id: string };
    expect(textOf(made)).toContain(`sandbox_id: ${id}`);
    expect(textOf(await exec(server, "echo in", id))).toContain("in");
    await sleep(800);
    const expired = await exec(server, "true", id);
    expect(expired.isError).toBe(true);
    expect(textOf(expired)).toMatch(
      /^EXPIRED: sandbox .* is gone \(it was not used for 0\.4 s\).*leave sandbox_id out.*create_sandbox/,
    );
    expect(textOf(await exec(server, "true", `${id}x`))).toMatch(/^NOT_FOUND: there is no sandbox/);
  });

  it("ends a sandbox on request, twice without harm, and keeps sandboxes apart", async () => {
    await using server = await connect();
    await exec(server, "echo default > mark");
    const { sandbox_id: id } = (await server.call("create_sandbox")).structuredContent as { sandbox_id: string };
    expect(recordOf(await exec(server, "cat mark", id)).exitCode).not.toBe(0);
    expect((await server.call("destroy_sandbox", { sandbox_id: id })).structuredContent).toMatchObject({
      destroyed: true,
    });
    expect((await server.call("destroy_sandbox", { sandbox_id: id })).structuredContent).toMatchObject({
      destroyed: false,
    });
    expect(textOf(await exec(server, "true", id))).toMatch(/^EXPIRED: .*it was destroyed/);
    expect(textOf(await exec(server, "cat mark"))).toContain("default");
  });

  it("refuses more than the cap and names the living ones", async () => {
    await using server = await connect({ maxSandboxes: 2 });
    const made = await Promise.all([1, 2, 3].map(() => server.call("create_sandbox")));
    const [first = "", second = "", ...others] = made.filter(({ isError }) => !isError).map(textOf);
    expect(others).toEqual([]);
    const third = await exec(server, "true");
    expect(textOf(third)).toMatch(/^QUOTA: all 2 sandboxes/);
    expect(textOf(third)).toContain(idOf(first));
    await server.call("destroy_sandbox", { sandbox_id: idOf(second) });
    expect(textOf(await exec(server, "echo room"))).toContain("room");
  });

  it("does not take a sandbox in the making from others when one caller gives up", async () => {
    await using server = await connect();
    const abort = new AbortController();
    const given = server.call("exec", { command: "true" }, { signal: abort.signal });
    const kept = exec(server, "echo kept");
    abort.abort();
    await expect(given).rejects.toThrow();
    expect(textOf(await kept)).toContain("kept");
  });
});

describe("over HTTP, where a call without an id gets a sandbox of its own", () => {
  it("returns the id, by which later calls go on in it", async () => {
    await using server = await connect({}, "fresh");
    const first = await exec(server, "echo one > file");
    const id = idOf(textOf(first));
    expect(id).toBe(recordOf(first).sandbox);
    const second = await exec(server, "cat file", id);
    expect(textOf(second)).toContain("one");
    expect(textOf(second)).not.toContain("Sandbox:");
    expect(recordOf(await exec(server, "cat file")).exitCode).not.toBe(0);
    const written = await server.call("write_file", { path: "x", content: "y" });
    expect(textOf(await server.call("read_file", { path: "x", sandbox_id: idOf(textOf(written)) }))).toContain("y");
  });

  it("asks for the id where a new sandbox makes no sense", async () => {
    await using server = await connect({}, "fresh");
    expect(textOf(await server.call("read_file", { path: "x" }))).toMatch(/^INVALID: read_file: sandbox_id is missing/);
  });

  it("keeps nothing for a call that failed or was cancelled", async () => {
    await using server = await connect({}, "fresh");
    expect((await server.call("exec", { command: "ls", cwd: "none" })).isError).toBe(true);
    const abort = new AbortController();
    const call = server.call("exec", { command: "sleep 30" }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 500);
    await expect(call).rejects.toThrow();
    const until = Date.now() + 5_000;
    while ((await handles(server)).length > 0 && Date.now() < until) await sleep(50);
    expect(await handles(server)).toEqual([]);
  });
});

describe("handles", () => {
  it("verify for their principal alone", () => {
    const [one, two] = [localPrincipal("one"), localPrincipal("two")];
    const handle = sealHandle(one, "id");
    expect(openHandle(one, handle)).toBe("id");
    expect(openHandle(two, handle)).toBeUndefined();
    for (const wrong of ["", ".", "id", "id.", `${handle}a`, handle.slice(0, -1)]) {
      expect(openHandle(one, wrong)).toBeUndefined();
    }
  });

  it("are granted on the command line, by whoever has the secret", async () => {
    const SANDKIT_SECRET = "a secret of the server";
    const args = ["grant", "an-id", "--principal", "alice"];
    await using granting = new RawServer(args, { SANDKIT_SECRET });
    await using stranger = new RawServer(args);
    expect(await granting.exited).toEqual([0, null]);
    expect(granting.stdout).toBe(`${sealHandle(principalOf("alice", SANDKIT_SECRET), "an-id")}\n`);
    expect(await stranger.exited).toEqual([2, null]);
    expect(stranger.stderr).toContain("SANDKIT_SECRET");
  });

  it("are not made for sandboxes that would outlive all who know them", async () => {
    const config = configSchema.parse({ detached: true });
    await expect(serveHttp({ config })).rejects.toThrow(/detached needs a secret/);
  });
});

it("forgets the users who have nothing left here, and nobody else", async () => {
  await using folder = await localConfig();
  const { config, path: configPath } = await folder.load();
  const runtime = new Runtime({ config, configPath, implicit: "fresh" });
  const user = (name: string) => runtime.sandboxesOf(principalOf(name, "a secret of many users"));
  try {
    const [busy, idle] = [user("busy"), user("idle")];
    const { handle } = await busy.create({});
    for (let other = 0; other < 1_000; other++) user(`user ${other}`);
    expect(user("busy")).toBe(busy);
    expect(user("idle")).not.toBe(idle);
    await busy.destroy(handle);
    for (let other = 0; other < 1_000; other++) user(`user ${other}`);
    expect(user("busy")).not.toBe(busy);
  } finally {
    await runtime.close();
  }
});
