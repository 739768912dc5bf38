import { setTimeout as sleep } from "node:timers/promises";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHttp } from "../src/http/listen.js";
import { type Connection, connect, recordOf, textOf } from "./support/connect.js";
import { connectWasm } from "./support/connect-wasm.js";
import { localConfig } from "./support/local-config.js";

type Result = Awaited<ReturnType<Connection["call"]>>;

const processIn = (result: Result) => String(recordOf(result).process);

describe("a run that has not ended when its call answers", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connect({ maxRuns: 3, maxTimeoutSeconds: 120 });
    await server.call("exec", { command: "true" });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const exec = (command: string, more: Record<string, unknown> = {}) => server.call("exec", { command, ...more });
  const go = (id: string, more: Record<string, unknown> = {}) => server.call("process", { process: id, ...more });
  /** Reads until the program has said something. */
  const until = async (id: string, said: RegExp) => {
    for (;;) {
      const result = await go(id, { cursor: 0, wait_s: 0.1 });
      if (said.test(textOf(result))) return result;
    }
  };

  it("goes on as a process: its output so far, then the rest and the end, each once", async () => {
    const first = await exec("echo one; while [ ! -e .go ]; do sleep 0.05; done; echo two; echo bad >&2; exit 3", {
      wait_s: 1.5,
    });
    const id = processIn(first);
    expect(textOf(first)).toMatch(
      new RegExp(`^Process ${id} has been running for .*; its time limit is 30 s\\. .*tool process\\.\n\none`),
    );
    expect(recordOf(first)).toMatchObject({ running: true, cursor: 4, bytes: { stdout: 4, stderr: 0 } });
    expect(first.isError).toBeFalsy();
    expect(textOf(await go(id, { wait_s: 0 }))).toContain("(no output so far)");
    await exec("touch .go");
    const last = await go(id, { wait_s: 20 });
    expect(textOf(last)).toMatch(
      new RegExp(`^Process ${id}: Exited with code 3 after .*\n\n\\[stdout\\]\ntwo\n\\[stderr\\]\nbad$`),
    );
    expect(recordOf(last)).toMatchObject({ process: id, running: false, exitCode: 3, bytes: { stdout: 8, stderr: 4 } });
    // An answer that was lost can be had again.
    expect(textOf(await go(id, { cursor: 0 }))).toMatch(/\[stdout\]\none\ntwo\n\[stderr\]\nbad$/);
    expect(textOf(await server.call("process", { action: "list" }))).toMatch(
      new RegExp(`^${id}: ended after .*echo one`),
    );
  });

  it("takes input where its stdin was left open, and Ctrl-C and Ctrl-D", async () => {
    const started = await exec("read name; echo hello $name; trap 'echo caught' INT; cat", {
      interactive: true,
      wait_s: 0,
    });
    const id = processIn(started);
    expect(textOf(await go(id, { input: "Ada\n" }))).toMatch(
      /has been running for .*write to its stdin.*\n\nhello Ada$/s,
    );
    const closed = await go(id, { action: "write", input: "left\u0004", wait_s: 20 });
    expect(textOf(closed)).toMatch(/Exited with code 0.*\n\nleft$/s);
    expect(textOf(await go(id, { input: "late" }))).toContain("Exited with code 0");
    const waiting = await exec("trap 'echo caught; exit 4' INT; echo ready; while :; do sleep 0.1; done", {
      interactive: true,
    });
    await until(processIn(waiting), /ready/);
    expect(textOf(await go(processIn(waiting), { input: "\u0003" }))).toMatch(/Exited with code 4.*\n\ncaught/s);
  });

  it("is not waited for when it does not read", async () => {
    const id = processIn(await exec("echo up; sleep 60", { interactive: true }));
    const result = await go(id, { input: "x".repeat(2_000_000), wait_s: 0.5 });
    expect(textOf(result)).toMatch(/has been running for/);
    expect(textOf(await go(id, { action: "stop" }))).toMatch(/Cancelled after/);
  });

  it("is told that it takes no input, with the other ways", async () => {
    const id = processIn(await exec("sleep 60", { wait_s: 0 }));
    const refused = await go(id, { input: "x" });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/^INVALID: process: p-\w+ takes no input: .*interactive true, or pass stdin/);
    const stopped = await go(id, { action: "stop" });
    expect(textOf(stopped)).toMatch(/^Process p-\w+: Cancelled after /);
    expect(recordOf(stopped)).toMatchObject({ reason: "aborted", running: false });
  });

  it("keeps to its time limit, and its sandbox from being idle", async () => {
    await using brief = await connect({ idleSeconds: 0.5 });
    const first = await brief.call("exec", { command: "echo begun; sleep 30", timeout: 1.2, wait_s: 0.1 });
    const result = await brief.call("process", { process: processIn(first), wait_s: 20 });
    expect(textOf(result)).toMatch(/Stopped at the time limit of 1\.2 s/);
    expect(textOf(await brief.call("exec", { command: "true" }))).not.toContain("Note:");
  });

  it("is refused above the cap with when to try again, which changes nothing for the others", async () => {
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(processIn(await exec("sleep 60", { wait_s: 0 })));
    const busy = await exec("true");
    expect(busy.isError).toBe(true);
    expect(textOf(busy)).toMatch(/^RATE_LIMITED: busy: 3 runs of yours are under way.*retry in \d s, or stop one.*p-/);
    expect(busy._meta?.["sandkit/error"]).toMatchObject({ retryable: true, retryAfterMs: expect.any(Number) });
    let listed = "";
    while (!listed.includes(`, running ${ids.join(", ")}`)) listed = textOf(await server.call("list_sandboxes"));
    await Promise.all(ids.map((id) => go(id, { action: "stop" })));
    expect(textOf(await exec("echo room"))).toContain("room");
  });

  it("ends with its sandbox, and says so", async () => {
    const { sandbox_id: sandbox } = (await server.call("create_sandbox")).structuredContent as { sandbox_id: string };
    const id = processIn(await exec("sleep 60", { wait_s: 0.5, sandbox_id: sandbox }));
    await server.call("destroy_sandbox", { sandbox_id: sandbox });
    const result = await go(id, { wait_s: 20 });
    expect(textOf(result)).toMatch(/^(?:SANDBOX_LOST|NOT_FOUND|EXPIRED): |: Ended by signal SIGKILL/);
  });

  it("is found by its own handle alone, and what is wrong is told", async () => {
    const wrong = [
      [{}, /^INVALID: process: process is missing: .*action "list"/],
      [{ process: "p-0" }, /^NOT_FOUND: there is no process "p-0" \(known are /],
      [{ process: "p-0", action: "kill" }, /^INVALID: process: action: .*"stop"/],
    ] as const;
    for (const [input, text] of wrong) {
      const result = await server.call("process", input);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(text);
    }
  });
});

it("a fresh sandbox of a run that goes on is told as soon as there is one, and lives when the run is stopped", async () => {
  await using server = await connect({}, "fresh");
  const first = await server.call("exec", { command: "echo kept > file; echo written; sleep 60", wait_s: 1 });
  let said = textOf(first);
  while (!said.includes("written")) said += textOf(await server.call("process", { process: processIn(first) }));
  expect(said.match(/ Sandbox: \S+ \(pass it/g)).toHaveLength(1);
  const stopped = await server.call("process", { process: processIn(first), action: "stop" });
  const sandbox = String(recordOf(stopped).sandbox);
  expect(textOf(stopped)).toContain(`Sandbox: ${sandbox}`);
  expect(textOf(await server.call("exec", { command: "cat file", sandbox_id: sandbox }))).toContain("kept");
});

it("over HTTP a run outlives the request that began it, and is its user's alone, in both eras", async () => {
  // Who only listens is not waited for at the end.
  await using folder = await localConfig({ maxRuns: 1, http: { drainSeconds: 600 } });
  const { config, path: configPath } = await folder.load();
  const server = await serveHttp({ config, configPath, token: ["alice-secret", "bob-secret"] });
  const connectAs = async (token: string, mode: "auto" | "legacy") => {
    const client = new ModernClient({ name: mode, version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { Authorization: `Bearer ${token}-secret` } };
    await client.connect(new ModernHttp(new URL(server.url), { requestInit }));
    const call = async (name: string, input: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: input })) as Result;
    const told: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
    return Object.assign(call, {
      told,
      read: (uri: string) => client.readResource({ uri }),
      listen: (uri: string) => client.listen({ resourceSubscriptions: [uri] }),
    });
  };
  try {
    const [alice, aliceToo, bob] = [
      await connectAs("alice", "auto"),
      await connectAs("alice", "legacy"),
      await connectAs("bob", "auto"),
    ];
    for (const [begin, goOn] of [
      [alice, aliceToo],
      [aliceToo, alice],
    ] as const) {
      const first = await begin("exec", { command: "echo begun; sleep 60", wait_s: 1 });
      const id = processIn(first);
      expect(textOf(await bob("process", { process: id }))).toMatch(
        /^NOT_FOUND: there is no process .* \(none is known\)/,
      );
      expect(textOf(await bob("process", { action: "list" }))).toBe("No run is under way.");
      expect(textOf(await bob("exec", { command: "echo free" }))).toContain("free");
      expect(textOf(await goOn("exec", { command: "true" }))).toMatch(/^RATE_LIMITED: busy: 1 runs? of yours/);
      let read = first;
      while (!textOf(read).includes("begun")) read = await goOn("process", { process: id, cursor: 0, wait_s: 0.2 });
      const log = `run://${id}/stdout`;
      expect(await goOn.read(log)).toMatchObject({ contents: [{ text: "begun\n" }] });
      for (const one of [alice, bob]) await one.listen(log);
      await expect(bob.read(log)).rejects.toThrow(/NOT_FOUND: there is no process/);
      await expect(bob.read(`sandbox://${recordOf(read).sandbox}/x`)).rejects.toThrow(/NOT_FOUND: there is no sandbox/);
      const stopped = await goOn("process", { process: id, action: "stop" });
      expect(textOf(stopped)).toMatch(/^Process p-\w+: Cancelled after /);
      while (!alice.told.includes(log)) await sleep(20);
    }
    expect(bob.told).toEqual([]);
  } finally {
    await server.close();
  }
});

describe("cells", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connectWasm();
    await server.call("run_code", { code: "1" });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const run = (code: string, more: Record<string, unknown> = {}) => server.call("run_code", { code, ...more });

  it("go on and wait for their turn, each with its handle", async () => {
    const slow = await run("import time\nprint('begun', flush=True)\nfor _ in range(600): time.sleep(0.1)", {
      timeout: 100,
      wait_s: 0.2,
    });
    const next = await run("'mine'", { wait_s: 0.2 });
    expect(textOf(next)).toMatch(new RegExp(`has waited .* for its turn, behind ${processIn(slow)}\\.`));
    const js = await run("6 * 7", { language: "javascript" });
    expect(textOf(js)).toContain("42");
    // One that has not begun need not wait to be told that it never will.
    const third = await run("'never'", { wait_s: 0 });
    expect(textOf(await server.call("process", { process: processIn(third), action: "stop" }))).toMatch(/Cancelled/);
    const stopped = await server.call("process", { process: processIn(slow), action: "stop" });
    expect(textOf(stopped)).toMatch(/Cancelled after/);
    const ended = await server.call("process", { process: processIn(next), wait_s: 20 });
    expect(textOf(ended)).toMatch(/Exited with code 0 .*\n\n\[value\]\n'mine'$/s);
  });
});

it.each(["default", "fresh"] as const)(
  "a run that waits for a %s sandbox to be made is stopped at once",
  async (way) => {
    await using cold = await connectWasm({}, way);
    const first = await cold.call("run_code", { code: "1", wait_s: 0 });
    const stopped = await cold.call("process", { process: processIn(first), action: "stop" });
    expect(textOf(stopped)).toBe(`Process ${processIn(first)} was stopped before it began.`);
    if (way === "fresh") expect(textOf(await cold.call("list_sandboxes"))).toMatch(/^No sandbox is alive/);
  },
);
