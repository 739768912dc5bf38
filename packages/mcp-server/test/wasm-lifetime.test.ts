import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { lives, RawServer } from "./support/spawn-server.js";

/** The processes that a process has started. */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
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
