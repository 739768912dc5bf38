import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { LinkCarrier } from "../../src/remote/link-carrier.js";
import { headerBytes } from "../../src/remote/packets.js";
import { SentBytes } from "../../src/remote/sent-bytes.js";

it("sends what is said at the moment when it finds nothing more to send", async () => {
  const arrived: Buffer[] = [];
  const connection = {
    send: async (bytes: Uint8Array) => {
      arrived.push(Buffer.from(bytes));
    },
    output: new ReadableStream<Uint8Array>(),
    close: async () => undefined,
  };
  const sent = new SentBytes();
  let asked = false;
  const carrier: LinkCarrier = new LinkCarrier(
    {
      maxSendBytes: 1_000,
      sent,
      received: 0,
      get owesAcknowledgement() {
        // Once its last look is over, and before the promise of that has resolved.
        if (!sent.hasUnsent && !asked) queueMicrotask(() => say("second"));
        asked ||= !sent.hasUnsent;
        return false;
      },
      told: () => undefined,
      hear: () => undefined,
      room: async () => undefined,
      broke: (_, cause) => {
        throw cause;
      },
    },
    connection,
  );
  const say = (words: string) => {
    sent.add(Buffer.from(words));
    carrier.pump();
  };
  carrier.go();
  say("first");
  await pause(50);
  await carrier.close();
  expect(arrived.map((packet) => packet.subarray(headerBytes).toString())).toEqual(["first", "second"]);
});
