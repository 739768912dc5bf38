import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { lives, RawServer } from "./support/spawn-server.js";

/** The processes that a process has started. */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

const clientInfo = { name: "raw", version: "1" };
const handshake = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

/** Asks for the first run, which makes a sandbox, and leaves it for so long. */
async function begin(server: RawServer, milliseconds: number): Promise<void> {
  await server.initialize();
  server.send({ id: 1, method: "tools/call", params: { name: "run_code", arguments: { code: "while True: pass" } } });
  await sleep(milliseconds);
}

/** Collects what a process starts, until it ends. */
async function watch(pid: number | undefined, seen: Set<number>): Promise<void> {
  for (;;) {
    try {
      for (const child of await childrenOf(pid)) seen.add(child);
    } catch (error) {
      if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return;
      throw error;
    }
    await sleep(10);
  }
}

describe.runIf(process.platform === "linux")("sandboxes of the default provider", () => {
  it.each(["SIGKILL", "SIGTERM", "EOF"] as const)("die with the server, ended by %s", async (end) => {
    await using server = new RawServer([]);
    await server.initialize();
    expect(await server.call(1, "run_code", { code: "1 + 1" })).toContain("2");
    server.send({
      id: 2,
      method: "tools/call",
      params: { name: "run_code", arguments: { code: "while True: pass" } },
    });
    await sleep(300);
    const children = await childrenOf(server.child.pid);
    expect(children.length).toBeGreaterThan(0);
    if (end === "EOF") server.child.stdin.end();
    else server.child.kill(end);
    await server.exited;
    const until = Date.now() + 5_000;
    while (children.some(lives) && Date.now() < until) await sleep(50);
    expect(children.filter(lives)).toEqual([]);
  });

  it.each<[moment: string, end: "SIGTERM" | "EOF", until: (server: RawServer) => Promise<unknown>]>([
    ["before anything is loaded", "SIGTERM", async () => undefined],
    ["before the first message", "SIGTERM", () => sleep(600)],
    ["in the handshake", "EOF", async (server) => server.send(handshake)],
    ["while the first sandbox is made", "EOF", (server) => begin(server, 0)],
    ["while it starts", "SIGTERM", (server) => begin(server, 150)],
    ["as it is ready", "EOF", (server) => begin(server, 600)],
  ])("leave nothing when the server ends %s", async (_, end, until) => {
    await using server = new RawServer([]);
    const seen = new Set<number>();
    const watching = watch(server.child.pid, seen);
    await until(server);
    if (end === "EOF") server.child.stdin.end();
    else server.child.kill(end);
    await server.exited;
    await watching;
    const deadline = Date.now() + 5_000;
    while ([...seen].some(lives) && Date.now() < deadline) await sleep(50);
    expect([...seen].filter(lives)).toEqual([]);
    expect(server.stderr).not.toMatch(/Error:|at .*\.js:/);
  });

  it("that run away keep nobody from the list of tools", async () => {
    await using server = new RawServer([]);
    await server.initialize();
    server.send({ id: 1, method: "tools/call", params: { name: "run_code", arguments: { code: "while True: pass" } } });
    await sleep(1_500);
    await server.ask(2, "tools/list");
    await server.call(3, "list_sandboxes", {});
    expect(server.messages().map(({ id }) => id)).toEqual([0, 2, 3]);
  });

  it("are replaced when they are lost, and the next call says so first", async () => {
    await using server = new RawServer([]);
    await server.initialize();
    await server.call(1, "run_code", { code: "x = 1" });
    for (const child of await childrenOf(server.child.pid)) process.kill(child, "SIGKILL");
    await sleep(1_500);
    const text = await server.call(2, "run_code", { code: "'x' in globals()" });
    expect(text).toMatch(/^Note: the earlier default sandbox is gone .*Its files and variables are lost/);
    expect(text).toMatch(/\[value\]\nFalse$/);
  });

  it("that are lost in the middle of a run are no exit code", async () => {
    await using server = new RawServer([]);
    await server.initialize();
    await server.call(1, "run_code", { code: "x = 1" });
    server.send({ id: 2, method: "tools/call", params: { name: "run_code", arguments: { code: "while True: pass" } } });
    await sleep(500);
    for (const child of await childrenOf(server.child.pid)) process.kill(child, "SIGKILL");
    const { result } = (await server.answer(2)) as { result: { isError: boolean; content: { text: string }[] } };
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/^SANDBOX_LOST: .*The next call starts in a new sandbox/s);
    expect(await server.call(3, "run_code", { code: "'on'" })).toMatch(/^Note: .*'on'$/s);
  });
});
