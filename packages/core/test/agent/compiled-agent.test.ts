import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { deflateSync, inflateSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { agentSession } from "../../src/agent/agent-session.js";
import { attachedAgent } from "../../src/agent/guest-source.js";
import { streamChannel } from "../../src/agent/stream-channel.js";
import { capabilities } from "../../src/capabilities.js";
import { GuestClient, python, startAgent, stopAgent } from "./guest-client.js";

const running: ChildProcess[] = [];
afterEach(async () => {
  for (const process of running.splice(0)) await stopAgent({ process });
});

/** The agent's program, which waits for what it consists of. */
async function waiting(code?: Uint8Array) {
  const agent = await attachedAgent(code);
  const [, ...args] = agent.command;
  const child = spawn(python, args, { cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined);
  running.push(child);
  return { child, ...agent };
}

async function attached(code?: Uint8Array) {
  const { child, head } = await waiting(code);
  child.stdin.write(head);
  const client = new GuestClient(child.stdin, child.stdout);
  expect((await client.hello()).ok).toMatchObject({ version: 1 });
  return client;
}

/** What the host gets of an agent that has compiled itself. */
async function compiled(): Promise<Uint8Array> {
  const { child, head } = await waiting();
  child.stdin.write(head);
  const session = await agentSession(streamChannel({ readable: child.stdout, writable: child.stdin }), {
    ref: { provider: "test", id: "box" },
    capabilities: capabilities({ isolation: "none", features: {} }),
    workdir: "/",
    info: async () => ({ state: "running", origin: "created", createdAt: new Date(), labels: {} }),
    destroy: async () => undefined,
  });
  return session.code();
}

/** Exit code of a boot that fails, and what it says. */
async function failure(child: ChildProcess) {
  const said = child.stderr ? await text(child.stderr) : "";
  if (child.exitCode === null) await once(child, "exit");
  return { code: child.exitCode, said };
}

describe("an agent that comes over its channel", () => {
  it("does what one does that came by the command line", async () => {
    const client = await attached();
    expect(await client.sh("echo $((6 * 7))").text()).toBe("42\n");
  });

  it("takes itself in any pieces", async () => {
    const { child, head } = await waiting();
    for (const byte of head.subarray(0, 300)) child.stdin.write(Uint8Array.of(byte));
    child.stdin.write(head.subarray(300));
    const client = new GuestClient(child.stdin, child.stdout);
    expect((await client.hello()).ok).toMatchObject({ version: 1 });
  });

  it("ends, and says so, when its host leaves before all has come", async () => {
    const { child, head } = await waiting();
    child.stdin.end(head.subarray(0, 1000));
    expect(await failure(child)).toEqual({ code: 1, said: "sandkit agent: its host left before it had begun\n" });
  });
});

describe("an agent that was compiled in another box", () => {
  it("does what one does from the sources", async () => {
    const client = await attached(await compiled());
    // It has not compiled anything that it could give.
    expect((await client.ask({ op: "code" })).error?.errno).toBe("EPERM");
    expect(await client.sh("echo $((6 * 7))").text()).toBe("42\n");
    expect((await client.ask({ op: "info" })).ok).toMatchObject({ shells: ["sh", "bash"] });
  });

  it("is refused by another interpreter, in words", async () => {
    const code = Buffer.from(inflateSync(await compiled()));
    code.writeUInt16LE(code.readUInt16LE() ^ 1);
    const { child, head } = await waiting(deflateSync(code));
    child.stdin.write(head);
    expect(await failure(child)).toEqual({ code: 1, said: "sandkit agent: it was compiled by another Python\n" });
  });

  it("is not given once a program of the box may have had a hand in it", async () => {
    const client = await attached();
    await client.sh("true").text();
    expect((await client.ask({ op: "code" })).error?.errno).toBe("EPERM");
  });

  it("is not known to the agent in JavaScript", async () => {
    const agent = await startAgent({ runtime: "node" });
    running.push(agent.process);
    await agent.client.hello();
    expect((await agent.client.ask({ op: "code" })).error?.errno).toBe("ENOSYS");
  });
});
