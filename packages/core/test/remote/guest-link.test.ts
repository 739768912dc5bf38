import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { deferred } from "../../src/deferred.js";
import { Link } from "../../src/remote/link.js";
import { encodeResume, headerBytes, packetKind, sealPacket } from "../../src/remote/packets.js";
import { startLink } from "../../src/remote/start-link.js";
import type { Terminal, TerminalConnection } from "../../src/remote/terminal.js";
import { LocalTerminal } from "./local-terminal.js";

const terminals: LocalTerminal[] = [];

async function start(silentMs?: number) {
  const terminal = new LocalTerminal();
  terminals.push(terminal);
  const start = await startLink(terminal, {
    provider: "remote-test",
    sandboxId: "box",
    agent: `sandkit-test-${randomBytes(8).toString("hex")}`,
    silentMs,
    signal: AbortSignal.timeout(20_000),
  });
  return { terminal, start };
}

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.end()));
});

describe("the guest's end of a link", () => {
  it("ends when it has heard nothing for long, and its terminal with it", async () => {
    const { terminal, start: begun } = await start(1_000);
    const link = new Link(terminal, begun);
    const reading = link.readable.getReader();
    const heard = (async () => {
      for (;;) if ((await reading.read()).done) return "ended";
    })();
    await expect(heard).rejects.toThrow("has ended");
  });

  it("skips what was damaged on the way, and asks for it again", async () => {
    const { terminal, start: begun } = await start();
    const link = new Link(terminal, begun);
    const writer = link.writable.getWriter();
    await begun.connection.send(Buffer.alloc(5_000, 0x5a));
    await writer.write(Buffer.from("\nSANDKIT-HOST/1 b\n"));
    await writer.write(Buffer.from([0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0]));
    const reading = link.readable.getReader();
    let said = "";
    while (!said.endsWith(pong)) said += Buffer.from((await reading.read()).value ?? []).toString("latin1");
    expect(said).toBe(`\nSANDKIT-AGENT/1\n${pong}`);
    await link.close();
  });

  it("ends when its host says so", async () => {
    const { terminal, start: begun } = await start();
    const link = new Link(terminal, begun);
    await link.close();
    await expect.poll(() => terminal.reconnect(AbortSignal.timeout(5_000)), { timeout: 10_000 }).toBeNull();
  });
});

/** A frame of the agent's protocol: the answer to a ping. */
const pong = Buffer.from([0, 0, 0, 6, 9, 0, 0, 0, 0, 0]).toString("latin1");

/** A guest that says what it likes, to whoever connects. */
function hostile(says: (nonce: Uint8Array) => Uint8Array) {
  const nonce = randomBytes(16);
  let connects = 0;
  const connect = (first: Uint8Array): TerminalConnection => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const output = new ReadableStream<Uint8Array>({
      start: (own) => {
        controller = own;
        own.enqueue(first);
      },
    });
    return {
      output,
      // A resumption of the host ends with its nonce, the bytes received and a check.
      send: async (bytes) => {
        if (bytes.length === 44) controller?.enqueue(says(bytes.subarray(16, 32)));
      },
      close: async () => undefined,
    };
  };
  const terminal: Terminal = {
    maxSendBytes: 1000,
    open: async () => connect(new Uint8Array()),
    reconnect: async () => {
      connects += 1;
      return connects > 5 ? null : connect(new Uint8Array());
    },
    end: async () => undefined,
  };
  const connection = connect(says(nonce));
  const link = new Link(terminal, {
    connection,
    reader: connection.output.getReader(),
    rest: new Uint8Array(),
    key: randomBytes(16),
    nonce,
    place: { user: "", home: "/", cwd: "/" },
  });
  return { link, connects: () => connects };
}

function answer(nonce: Uint8Array, received = 0): Buffer {
  return encodeResume(new Uint8Array(), nonce, received);
}

function packet(kind: number, offset: number, received: number, payload = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(headerBytes), payload]);
  sealPacket(bytes, kind, offset, received);
  return bytes;
}

describe("a guest that breaks the rules", () => {
  it.each([
    ["acknowledges what was never sent", (nonce: Uint8Array) => answer(nonce, 2 ** 40)],
    ["acknowledges it in a packet", (nonce: Uint8Array) => Buffer.concat([answer(nonce), packet(0, 0, 99)])],
  ])("is given up at once when it %s", async (_what, says) => {
    const { link, connects } = hostile(says);
    await expect(link.readable.getReader().read()).rejects.toThrow("breaks the rules");
    expect(connects()).toBe(0);
    await link.close();
  });

  it.each([
    ["noise", (nonce: Uint8Array) => Buffer.concat([answer(nonce), Buffer.alloc(1000, 0xee)])],
    [
      "what comes after a gap",
      (nonce: Uint8Array) => Buffer.concat([answer(nonce), packet(0, 5, 0, Buffer.from("x"))]),
    ],
    ["an end after a gap", (nonce: Uint8Array) => Buffer.concat([answer(nonce), packet(packetKind.end, 5, 0)])],
  ])("is asked again when it says %s, and never believed", async (_what, says) => {
    const { link, connects } = hostile(says);
    await expect(link.readable.getReader().read()).rejects.toThrow("has ended");
    expect(connects()).toBe(6);
    await link.close();
  });

  it("does not make anything unbounded by saying that all was lost", async () => {
    const lost = Buffer.concat(Array.from({ length: 1000 }, () => packet(packetKind.lost, 0, 0)));
    const { link } = hostile((nonce) => Buffer.concat([answer(nonce), lost]));
    const reading = link.readable
      .getReader()
      .read()
      .catch(() => "over");
    const waited = deferred<string>();
    setTimeout(() => waited.resolve("waits"), 500);
    await Promise.race([reading, waited.promise]);
    await link.close();
    expect(link.stalled).toBe(true);
  });
});

it("takes nothing more once it was closed", async () => {
  const { terminal, start: begun } = await start();
  const link = new Link(terminal, begun);
  await link.close();
  await expect(link.writable.getWriter().write(Buffer.from("late"))).rejects.toThrow("closed");
});
