import { randomBytes, randomInt } from "node:crypto";
import { type Duplex, PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { encodeFrame, FrameDecoder, ProtocolError } from "../../src/agent/frames.js";
import { IncomingLane } from "../../src/agent/lanes.js";
import {
  agentPreamble,
  type Framing,
  firstAgentStream,
  frameType,
  lane,
  maxConnections,
  windowBytes,
} from "../../src/agent/protocol.js";
import { capabilities, SandboxError } from "../../src/index.js";
import { agentSession, type ServedNetwork, streamChannel } from "../../src/kit.js";

const nothing = new Uint8Array();
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** The other end of a channel, in hostile hands: hears frames, says what it likes. */
class Impostor {
  readonly toHost = new PassThrough();
  readonly fromHost = new PassThrough();
  closed = false;
  readonly #framing: Framing;

  constructor(framing: Framing = "binary") {
    this.#framing = framing;
    this.toHost.write(agentPreamble);
  }

  say(type: number, stream: number, onLane: number, payload: Uint8Array): void {
    if (!this.toHost.destroyed) this.toHost.write(encodeFrame(this.#framing, type, stream, onLane, payload));
  }

  /** Answers hello (stream 0) and the first look (stream 1) as an honest agent would. */
  greet(): void {
    const ready = {
      version: 1,
      runtime: "python 3.12.0",
      killTree: "native",
      pty: true,
      workdir: "/work",
      startedAt: Date.now(),
    };
    this.say(frameType.response, 0, 0, json({ ok: ready }));
    const info = { shells: ["sh"], interpreters: ["python3"], programs: [], expiresAt: null };
    this.say(frameType.response, 1, 0, json({ ok: info }));
  }

  session(startTimeoutMs = 5_000, network?: ServedNetwork) {
    const channel = streamChannel({
      readable: this.toHost,
      writable: this.fromHost.resume(),
      close: async () => {
        this.closed = true;
      },
    });
    return agentSession(channel, {
      ref: { provider: "test", id: "box" },
      capabilities: capabilities({ isolation: "none", features: { exec: "native", "exec.killTree": "native" } }),
      framing: this.#framing,
      workdir: "/work",
      startTimeoutMs,
      network,
      info: async () => ({ state: "running", origin: "created", createdAt: new Date(), labels: {} }),
      destroy: async () => undefined,
    });
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (reason) => (reason instanceof SandboxError ? reason.code : String(reason)),
  );
}

/** A program that the agent says to have started, on stream 2. */
async function withProcess() {
  const agent = new Impostor();
  const opening = agent.session();
  agent.greet();
  const session = await opening;
  const starting = session.spawn(["true"], { stdin: false });
  agent.say(frameType.response, 2, 0, json({ ok: { pid: 7 } }));
  return { agent, process: await starting };
}

describe("frames", () => {
  for (const framing of ["binary", "text"] as const) {
    it(`come out as they went in, however they are cut and whatever came before (${framing})`, () => {
      const sent = Array.from({ length: 200 }, (_, index) => ({
        type: frameType.data,
        stream: index,
        lane: index % 5,
        payload: randomBytes(index % 7 === 0 ? 70_000 : randomInt(1, 300)),
      }));
      const bytes = Buffer.concat([
        Buffer.from('{"a body":1}\r\n:'),
        Buffer.from(agentPreamble),
        ...sent.map((frame) => encodeFrame(framing, frame.type, frame.stream, frame.lane, frame.payload)),
      ]);
      const decoder = new FrameDecoder(framing);
      const heard = [];
      for (let start = 0; start < bytes.length; ) {
        const length = randomInt(1, 5000);
        for (const frame of decoder.push(bytes.subarray(start, start + length))) heard.push(frame);
        start += length;
      }
      expect(heard.map((frame) => ({ ...frame, payload: frame.payload.toString("hex") }))).toEqual(
        sent.map((frame) => ({ ...frame, payload: frame.payload.toString("hex") })),
      );
    });

    it(`never crash on garbage, nor keep it without bound (${framing})`, () => {
      for (let round = 0; round < 300; round++) {
        const decoder = new FrameDecoder(framing);
        try {
          for (const _ of decoder.push(Buffer.from(agentPreamble)));
          for (let piece = 0; piece < 40; piece++) for (const _ of decoder.push(randomBytes(randomInt(1, 40_000))));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }
    });
  }

  it("take 5,000 tiny frames in one chunk", () => {
    const decoder = new FrameDecoder("binary");
    const tiny = encodeFrame("binary", frameType.data, 1, lane.out, Uint8Array.of(1));
    const all = [...decoder.push(Buffer.concat([Buffer.from(agentPreamble), ...Array<Uint8Array>(5_000).fill(tiny)]))];
    expect(all).toHaveLength(5_000);
  });
});

/** Each ends the sandbox for its client, with an error that says so, and closes the channel. */
const lies: Readonly<Record<string, (agent: Impostor) => void>> = {
  "a frame longer than any may be": (agent) =>
    agent.toHost.write(Buffer.from([0x7f, 0xff, 0xff, 0xff, 3, 1, 0, 0, 0, 2])),
  "a frame shorter than its header": (agent) => agent.toHost.write(Buffer.from([0, 0, 0, 1, 3])),
  "a type that does not exist": (agent) => agent.say(99, 2, 0, json({})),
  "a type that only the host sends": (agent) => agent.say(frameType.ping, 2, 0, Uint8Array.of(1)),
  "a stream that was never opened": (agent) => agent.say(frameType.data, 4_000_000, lane.out, Uint8Array.of(1)),
  "a response that is no JSON": (agent) => agent.say(frameType.response, 2, 0, Buffer.from("{")),
  "a response that is none": (agent) => agent.say(frameType.response, 2, 0, json({ yes: 1 })),
  "a response of deep JSON": (agent) => agent.say(frameType.response, 2, 0, Buffer.from(`${"[".repeat(100_000)}`)),
  "a lane that the stream has not": (agent) => agent.say(frameType.data, 2, lane.controlOut, Uint8Array.of(1)),
  "a lane of the other direction": (agent) => agent.say(frameType.data, 2, lane.in, Uint8Array.of(1)),
  "credit for what it sends itself": (agent) => agent.say(frameType.credit, 2, lane.out, Uint8Array.of(0, 0, 0, 9)),
  "credit without its amount": (agent) => agent.say(frameType.credit, 2, lane.in, Uint8Array.of(9)),
  "an end without its total": (agent) => agent.say(frameType.end, 2, lane.out, Uint8Array.of(1)),
  "an event of an unknown kind": (agent) => agent.say(frameType.event, 2, 0, json({ event: "won" })),
  "more output than it was granted": (agent) => {
    for (let sent = 0; sent <= windowBytes; sent += 65_536) agent.say(frameType.data, 2, lane.out, randomBytes(65_536));
  },
  "data without bytes": (agent) => agent.say(frameType.data, 2, lane.out, nothing),
  "a connection that nobody asked for": (agent) => agent.say(frameType.open, firstAgentStream, 0, nothing),
  "its own end": (agent) => agent.toHost.end(),
};

/** After one connection that is fine. */
const badConnections: Readonly<Record<string, (agent: Impostor) => void>> = {
  "a connection whose number was used": (agent) => agent.say(frameType.open, firstAgentStream, 0, nothing),
  "a connection among the host's numbers": (agent) => agent.say(frameType.open, 77, 0, nothing),
  "more connections than there may be": (agent) => {
    for (let more = 1; more <= maxConnections; more++) agent.say(frameType.open, firstAgentStream + more, 0, nothing);
  },
  "bytes that a connection was not granted": (agent) => {
    for (let sent = 0; sent <= windowBytes; sent += 65_536)
      agent.say(frameType.data, firstAgentStream, lane.out, randomBytes(65_536));
  },
  "bytes of a connection that was never opened": (agent) =>
    agent.say(frameType.data, firstAgentStream + 1, lane.out, Buffer.from("x")),
  "a credit on the way in": (agent) => agent.say(frameType.credit, firstAgentStream, lane.out, new Uint8Array(4)),
};

describe("an agent that is not to be believed", () => {
  for (const [what, lie] of Object.entries(lies)) {
    it(`is given up for ${what}`, async () => {
      const agent = new Impostor();
      const opening = agent.session();
      agent.greet();
      const session = await opening;
      const starting = session.spawn(["true"], { stdin: true });
      lie(agent);
      expect(await codeOf(starting)).toBe("SANDBOX_LOST");
      await session.closed;
      expect(agent.closed).toBe(true);
      expect(await codeOf(session.spawn(["true"], { stdin: false }))).toBe("SANDBOX_LOST");
      expect((await session.info()).state).toBe("gone");
    });
  }

  it("cannot have a piece of memory kept for each byte of a window", async () => {
    const incoming = new IncomingLane({ data: async () => undefined, end() {}, credit() {}, cancel() {} });
    const sent = randomBytes(windowBytes);
    for (let at = 0; at < sent.length; at++) incoming.add(sent.subarray(at, at + 1));
    incoming.end(sent.length);
    const pieces: Uint8Array[] = [];
    for await (const piece of incoming.stream) pieces.push(piece);
    expect(pieces.length).toBeLessThan(2_000);
    expect(Buffer.concat(pieces).equals(sent)).toBe(true);
  });

  it.each(Object.entries(badConnections))("is given up for %s", async (_, lie) => {
    const agent = new Impostor();
    const accepted: Duplex[] = [];
    agent.greet();
    const session = await agent.session(5_000, { port: 3128, accept: (connection) => accepted.push(connection) });
    agent.say(frameType.open, firstAgentStream, 0, nothing);
    lie(agent);
    await session.closed;
    expect(agent.closed).toBe(true);
    expect(accepted.length).toBeLessThanOrEqual(maxConnections);
    await expect.poll(() => accepted.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it("loses a stream whose bytes are not all there", async () => {
    const { agent, process } = await withProcess();
    agent.say(frameType.data, 2, lane.out, Buffer.from("abc"));
    agent.say(frameType.end, 2, lane.out, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 9));
    await expect(new Response(process.stdout).text()).rejects.toThrow();
  });

  it("may end a lane after it has told that all are gone", async () => {
    const { agent, process } = await withProcess();
    const nothing = new Uint8Array(8);
    const exited = { event: "exited", code: 0, signal: null, oom: false, cpuMs: null, peakMemoryBytes: null };
    agent.say(frameType.event, 2, 0, json(exited));
    agent.say(frameType.event, 2, 0, json({ event: "gone" }));
    agent.say(frameType.end, 2, lane.err, nothing);
    await process.gone;
    agent.say(frameType.data, 2, lane.out, Buffer.from("late"));
    agent.say(frameType.end, 2, lane.out, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 4));
    expect(await new Response(process.stdout).text()).toBe("late");
  });

  it("is heard when it refuses, with its words where its errno says too little", async () => {
    const agent = new Impostor();
    agent.greet();
    const session = await agent.session();
    const extending = session.extend(1_000);
    agent.say(frameType.response, 2, 0, json({ error: { errno: "EINVAL", message: "too short" } }));
    await expect(extending).rejects.toMatchObject({ code: "INVALID", operation: "extend", sandboxId: "box" });
    const listing = session.files.list("/work");
    agent.say(frameType.response, 3, 0, json({ error: { errno: "EIO", message: "the disk\nis gone" } }));
    await expect(listing).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining('files.list "/work": EIO: the disk is gone: '),
      cause: { message: "the disk\nis gone" },
    });
    await session.destroy();
  });

  it("cannot have one endless name of a listing kept", async () => {
    const agent = new Impostor();
    agent.greet();
    const session = await agent.session();
    const listing = expect(session.files.list("/work")).rejects.toMatchObject({
      code: "TRANSPORT",
      operation: "files.list",
      message: expect.stringContaining("a record of more than"),
    });
    agent.say(frameType.response, 2, 0, json({ ok: {} }));
    for (let sent = 0; sent < 20; sent += 1) {
      agent.say(frameType.data, 2, lane.out, Buffer.alloc(64 * 1024, "n"));
      // No more than it has credit for.
      await sleep(20);
    }
    await listing;
    await session.destroy();
  });

  it("cannot reach prototypes by what it answers", async () => {
    const agent = new Impostor();
    const opening = agent.session();
    agent.greet();
    const session = await opening;
    const looking = session.files.stat("/x", { followSymlinks: true });
    const record = '{"path":"/x","type":"file","size":1,"mode":420,"modifiedAt":1,"__proto__":{"polluted":1}}';
    agent.say(frameType.response, 2, 0, Buffer.from(`{"ok":${record}}`));
    expect(Reflect.get(await looking, "polluted")).toBeUndefined();
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("that never answers is given up in time", async () => {
    const agent = new Impostor();
    expect(await codeOf(agent.session(50))).toBe("UNAVAILABLE");
    expect(agent.closed).toBe(true);
  });

  it("that answers with garbage is given up, a thousand times", async () => {
    for (let round = 0; round < 1_000; round++) {
      const agent = new Impostor(round % 2 ? "text" : "binary");
      const opening = agent.session(2_000);
      if (round % 3 === 0) agent.greet();
      agent.toHost.write(randomBytes(randomInt(1, 4_000)));
      agent.toHost.end();
      const outcome = await codeOf(opening);
      if (outcome !== undefined) expect(["SANDBOX_LOST", "UNAVAILABLE"]).toContain(outcome);
    }
  });
});
