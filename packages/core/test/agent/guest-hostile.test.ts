import { spawn as spawnProcess } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { encodeFrame } from "../../src/agent/frames.js";
import { type AgentRuntime, agentCommand } from "../../src/agent/guest-source.js";
import {
  firstAgentStream,
  frameType,
  lane,
  maxRequestBytes,
  maxStreams,
  windowBytes,
} from "../../src/agent/protocol.js";
import { type GuestStream, plainSpawn, python, type StartedAgent, startAgent, stopAgent } from "./guest-client.js";

const agents: StartedAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await stopAgent(agent);
});

async function started(runtime: AgentRuntime) {
  const agent = await startAgent({ runtime });
  agents.push(agent);
  await agent.client.hello();
  return agent;
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u64 = (value: number) => Buffer.concat([u32(0), u32(value)]);
const request = (value: unknown) => Buffer.from(JSON.stringify(value));
const nothing = Buffer.alloc(0);

type Break = (agent: StartedAgent, cat: GuestStream) => void;
const breaks: Readonly<Record<string, Break>> = {
  "a length of 4 GiB": ({ client }) => client.sink.write(Buffer.from([255, 255, 255, 255, 3, 0, 0, 0, 0, 1])),
  "a length below that of the head": ({ client }) => client.sink.write(Buffer.from([0, 0, 0, 2, 3, 0])),
  "a request that is too long": ({ client }) =>
    client.sink.write(Buffer.concat([u32(6 + maxRequestBytes + 1), Buffer.from([1])])),
  "an unknown type": ({ client }) => client.frame(77, 1, 0, nothing),
  "a frame that only agents send": ({ client }) => client.frame(frameType.farewell, 0, 0, request({})),
  "a request that is no JSON": ({ client }) => client.frame(frameType.request, 9, 0, Buffer.from('{"op":')),
  "a request nested without end": ({ client }) =>
    client.frame(frameType.request, 9, 0, Buffer.from(`{"op":"info","x":${"[".repeat(500_000)}`)),
  "a request that is no UTF-8": ({ client }) =>
    client.frame(frameType.request, 9, 0, Buffer.from('{"op":"info","x":"\xff"}', "latin1")),
  "a request without an op": ({ client }) => client.frame(frameType.request, 9, 0, request([1])),
  "a second hello": ({ client }) => client.frame(frameType.request, 0, 0, request({ op: "hello" })),
  "a stream number that was used": ({ client }) => client.frame(frameType.request, 1, 0, request({ op: "info" })),
  "data for a stream that was never opened": ({ client }) => client.frame(frameType.data, 5000, 0, Buffer.from("x")),
  "data on a lane that there is not": ({ client }, cat) =>
    client.frame(frameType.data, cat.id, lane.controlIn, Buffer.from("x")),
  "data the wrong way": ({ client }, cat) => client.frame(frameType.data, cat.id, lane.out, Buffer.from("x")),
  "empty data": (_, cat) => cat.data(""),
  "data beyond the credit": (_, cat) => {
    cat.data(Buffer.alloc(windowBytes));
    cat.data(Buffer.alloc(windowBytes));
  },
  "data after the end": (_, cat) => {
    cat.end(0);
    cat.data("x");
  },
  "an end that does not add up": (_, cat) => cat.end(7),
  "an end without its total": ({ client }, cat) => client.frame(frameType.end, cat.id, lane.in, u32(0)),
  "credit for what was not sent": (_, cat) => cat.grant(lane.out, 1),
  "credit of no amount": ({ client }, cat) => client.frame(frameType.credit, cat.id, lane.out, nothing),
  "credit on the wrong lane": ({ client }, cat) => client.frame(frameType.credit, cat.id, lane.in, u32(1)),
  "a close of what was not opened": ({ client }) => client.frame(frameType.close, firstAgentStream, 0, nothing),
  "a request among the numbers of the agent": ({ client }) =>
    client.frame(frameType.request, firstAgentStream, 0, request({ op: "info" })),
  "taking back the input of a program": (_, cat) => cat.cancel(lane.in),
};

const spawn = { ...plainSpawn, command: ["true"] };
const write = { op: "write", path: "/tmp/sandkit-never", mode: "truncate", permissions: null, ifModifiedAt: null };

describe.each(["python", "node"] as const)("the agent in %s", (runtime) => {
  describe("ends with a farewell at", () => {
    it.each(Object.entries(breaks))("%s", async (_, breakIt) => {
      const agent = await started(runtime);
      const exit = once(agent.process, "exit");
      const cat = agent.client.spawn(["sleep", "300"], { stdin: true });
      await cat.reply.promise;
      breakIt(agent, cat);
      expect((await agent.client.farewell.promise).reason).toBe("protocol");
      await exit;
      expect(agent.process.exitCode).toBe(0);
      expect(agent.stderr()).toBe("");
    });

    it("junk without end, in silence", async () => {
      const [, ...args] = await agentCommand(runtime);
      const child = spawnProcess(runtime === "python" ? python : process.execPath, args, {
        cwd: "/",
        stdio: ["pipe", "pipe", "inherit"],
      });
      child.stdin.on("error", () => undefined);
      child.stdout.resume();
      child.stdin.write(Buffer.alloc(1_200_000, "junk "));
      expect((await once(child, "exit"))[0]).toBe(0);
    });

    it("a request before hello", async () => {
      const agent = await startAgent({ runtime });
      agents.push(agent);
      agent.client.open({ op: "info" });
      expect((await agent.client.farewell.promise).reason).toBe("protocol");
    });
  });

  describe("goes on after", () => {
    it("requests that make no sense", async () => {
      const agent = await started(runtime);
      const { client } = agent;
      await client.sh("true").gone.promise;
      const cat = client.spawn(["cat"], { stdin: true });
      await cat.reply.promise;
      const held = client.open(write);
      for (const [asked, errno] of [
        [{ op: "fly" }, "ENOSYS"],
        [{ op: "spawn" }, "EINVAL"],
        [{ op: "info", surplus: 1 }, null],
        [{ ...spawn, command: [] }, "EINVAL"],
        [{ ...spawn, command: ["a\0b"] }, "EINVAL"],
        [{ ...spawn, env: { "A\0": "b" } }, "EINVAL"],
        [{ ...spawn, env: [] }, "EINVAL"],
        [{ ...spawn, cwd: "tmp" }, "EINVAL"],
        [{ ...spawn, pty: { columns: 0, rows: 1 } }, "EINVAL"],
        [{ ...spawn, command: ["\ud800"] }, "EILSEQ"],
        [{ op: "read", path: "/etc/passwd", offset: -1, length: null }, "EINVAL"],
        [{ op: "read", path: "/etc/passwd", offset: true, length: null }, "EINVAL"],
        [{ ...write, mode: "sideways" }, "EINVAL"],
        [{ op: "read", path: "/etc/passwd", offset: 0.5, length: null }, "EINVAL"],
        [{ ...write, permissions: 0o10000 }, "EINVAL"],
        [{ ...write, ifModifiedAt: 0.5 }, "EINVAL"],
        [{ op: "list", path: "/tmp", recursive: true, maxDepth: 0, limit: null }, "EINVAL"],
        [{ op: "kill", process: -4, signal: "SIGTERM", scope: "tree" }, "EINVAL"],
        [{ op: "kill", process: 5_000, signal: "SIGTERM", scope: "tree" }, "EINVAL"],
        [{ op: "kill", process: held.id, signal: "SIGTERM", scope: "tree" }, "EINVAL"],
        [{ op: "kill", process: 1, signal: "SIGTERM", scope: "tree" }, null],
        [{ op: "kill", process: 1, signal: "SIGNAL", scope: "tree" }, "EINVAL"],
        [{ op: "kill", process: 1, signal: "SIGTERM", scope: "world" }, "EINVAL"],
        [{ op: "resize", process: 1, columns: 1, rows: 1 }, null],
        [{ op: "resize", process: 1, columns: 0, rows: 1e300 }, "EINVAL"],
        [{ op: "resize", process: cat.id, columns: 1, rows: 1 }, "EINVAL"],
        [{ op: "extend", ttlMs: "long" }, "EINVAL"],
        [{ op: "extend", ttlMs: -1 }, "EINVAL"],
        [{ op: "stat", path: `/${"x".repeat(100_000)}`, followSymlinks: false }, "ENAMETOOLONG"],
        [{ op: "remove", path: "/", recursive: true }, "EBUSY"],
      ] as const) {
        const reply = await client.ask(asked as { op: string });
        expect([asked.op, reply.error?.errno ?? null]).toEqual([asked.op, errno]);
      }
      expect(await client.sh("echo on").text()).toBe("on\n");
      expect(agent.stderr()).toBe("");
    });

    it("a hello that it refuses", async () => {
      const agent = await startAgent({ runtime });
      agents.push(agent);
      const { client } = agent;
      expect((await client.hello({ version: 2 })).error?.errno).toBe("EPROTONOSUPPORT");
      expect((await client.hello({ workdir: "tmp" })).error?.errno).toBe("EINVAL");
      expect((await client.hello({ idleMs: -1 })).error?.errno).toBe("EINVAL");
      expect((await client.hello({ directories: ["/dev/null/home"] })).error).toMatchObject({
        errno: "ENOTDIR",
        path: "/dev/null/home",
      });
      expect((await client.hello()).ok).toBeDefined();
    });

    it("more refusals than there may be streams", async () => {
      const { client } = await started(runtime);
      for (const request of [
        { op: "spawn", command: [] },
        { op: "read", path: "/no/such", offset: 0, length: null },
        { op: "fly" },
      ])
        for (let count = 0; count < maxStreams / 2; count++) await client.ask(request as { op: string });
      expect((await client.spawn(["true"], { cwd: "/no/such" }).reply.promise).error?.errno).toBe("ENOENT");
      expect(await client.sh("echo on").text()).toBe("on\n");
    });

    it("frames for streams that are over", async () => {
      const { client } = await started(runtime);
      const run = client.sh("true", { stdin: true });
      await run.gone.promise;
      run.data("late");
      run.end(4);
      run.grant(lane.out, 5);
      expect(await client.sh("echo on").text()).toBe("on\n");
    });

    it("more streams than there may be", async () => {
      const folder = mkdtempSync(join(tmpdir(), "sandkit-streams-"));
      const agent = await startAgent({ runtime, limits: ["--nofile=4096"] });
      agents.push(agent);
      const { client } = agent;
      await client.hello();
      const held = Array.from({ length: maxStreams }, (_, index) => {
        const path = `${folder}/${index}`;
        return client.open({ op: "write", path, mode: "truncate", permissions: null, ifModifiedAt: null });
      });
      expect((await client.ask({ op: "info" })).error?.errno).toBe("EAGAIN");
      for (const stream of held) stream.end(0);
      for (const stream of held) expect((await stream.reply.promise).ok).toEqual({ bytes: 0 });
      expect(await client.sh("echo on").text()).toBe("on\n");
      await rm(folder, { recursive: true });
    });

    it("running out of descriptors", async () => {
      // Node has more of its own.
      const agent = await startAgent({ runtime, limits: [`--nofile=${runtime === "python" ? 48 : 96}`] });
      agents.push(agent);
      const { client } = agent;
      await client.hello();
      const runs = Array.from({ length: 30 }, () => client.sh("sleep 300", { stdin: true }));
      const replies = await Promise.all(runs.map((run) => run.reply.promise));
      // The one in JavaScript opens the pipes of all before it starts the first: together they may leave none for any.
      if (runtime === "python") expect(replies.filter((reply) => reply.ok).length).toBeGreaterThan(3);
      expect(replies.filter((reply) => reply.error).every((reply) => reply.error?.errno === "EMFILE")).toBe(true);
      for (const [index, run] of runs.entries()) if (replies[index]?.ok) await client.kill(run);
      await Promise.all(runs.filter((_, index) => replies[index]?.ok).map((run) => run.gone.promise));
      expect(await client.sh("echo on").text()).toBe("on\n");
      expect(agent.stderr()).toBe("");
    });
  });

  describe("random bytes", () => {
    it("as frames never leave an agent that hangs or a trace of a defect", { timeout: 120_000 }, async () => {
      for (let round = 0; round < 25; round++) {
        const agent = await started(runtime);
        const exit = once(agent.process, "exit");
        const { client } = agent;
        const run = client.spawn(["cat"], { stdin: true, control: round % 2 === 0 });
        await run.reply.promise;
        for (let count = 0; count < 200; count++) {
          const type = [1, 3, 4, 5, 6, 8, randomInt(12)][randomInt(7)] ?? 3;
          const payload =
            [
              nothing,
              randomBytes(randomInt(300)),
              u32(randomInt(2 ** 32)),
              u64(randomInt(2 ** 32)),
              request({
                op: ["info", "stat", "spawn", "read", "list", "kill"][randomInt(6)],
                path: "/tmp",
                process: run.id,
              }),
            ][randomInt(5)] ?? nothing;
          client.sink.write(encodeFrame("binary", type, randomInt(4), randomInt(6), payload));
        }
        client.sink.write(randomBytes(5000));
        agent.process.stdin?.end();
        await exit;
        expect(agent.stderr()).toBe("");
        expect(agent.process.exitCode).toBe(0);
      }
    });

    it("as lines are skipped or end the connection", async () => {
      const agent = await startAgent({ runtime, framing: "text" });
      agents.push(agent);
      const { client } = agent;
      await client.hello();
      client.sink.write("junk\n\n\r\n");
      client.sink.write(`${"j".repeat(9_000_000)}\n`);
      expect(await client.sh("echo on").text()).toBe("on\n");
      client.sink.write(`:${"A".repeat(40)}\n`);
      expect((await client.farewell.promise).reason).toBe("protocol");
    });
  });
});
