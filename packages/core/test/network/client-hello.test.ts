import { describe, expect, it } from "vitest";
import { parseClientHello } from "../../src/network/client-hello.js";
import { objectionTo } from "../../src/network/judge-flight.js";
import { helloOf } from "./hello-of.js";

const hello = await helloOf("good.example");
const nameless = await helloOf(undefined);
const says = (bytes: Buffer, target = { host: "good.example", port: 443 }) =>
  objectionTo({ bytes, first: parseClientHello(bytes) }, target);

/** The same message in records of so many bytes. */
function inRecords(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const piece = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 255]), piece);
  }
  return Buffer.concat(records);
}

/** With more in its first extension list, and all lengths right. */
function withExtension(bytes: Buffer, type: number, body: Buffer): Buffer {
  const extension = Buffer.concat([Buffer.from([type >> 8, type & 255, body.length >> 8, body.length & 255]), body]);
  const copy = Buffer.concat([bytes, extension]);
  copy.writeUInt16BE(copy.length - 5, 3);
  copy.writeUIntBE(copy.length - 9, 6, 3);
  const at = extensionsAt(bytes);
  copy.writeUInt16BE(copy.readUInt16BE(at) + extension.length, at);
  return copy;
}

function extensionsAt(bytes: Buffer): number {
  let at = 9 + 34;
  at += 1 + bytes.readUInt8(at);
  at += 2 + bytes.readUInt16BE(at);
  return at + 1 + bytes.readUInt8(at);
}

const nameExtension = (...names: string[]) => {
  const list = Buffer.concat(names.map((name) => Buffer.concat([Buffer.from([0, 0, name.length]), Buffer.from(name)])));
  return Buffer.concat([Buffer.from([0, list.length]), list]);
};

describe("what a client says first", () => {
  it("is known once it is whole, however it is cut", () => {
    expect(parseClientHello(hello)).toEqual({ is: "client-hello", serverName: "good.example" });
    const unclear: number[] = [];
    for (let length = 0; length < hello.length; length += 1) {
      const first = parseClientHello(hello.subarray(0, length));
      if (first.is !== "incomplete" || first.needed <= length) unclear.push(length);
    }
    expect(unclear).toEqual([]);
    const cut = inRecords(hello, Math.ceil(hello.length / 12));
    expect(parseClientHello(cut)).toEqual({ is: "client-hello", serverName: "good.example" });
    expect(parseClientHello(cut.subarray(0, -1))).toMatchObject({ is: "incomplete", needed: cut.length });
    expect(parseClientHello(inRecords(hello, 1))).toMatchObject({ is: "malformed" });
  });

  it("is told from everything else", () => {
    for (const text of [
      "GET / HTTP/1.1\r\n",
      "SSH-2.0-x\r\n",
      "\x80\x2e\x01\x03\x01",
      "\x16\x02",
      "\x15\x03\x01\x00\x02",
    ]) {
      expect(parseClientHello(Buffer.from(text, "latin1"))).toEqual({ is: "other" });
    }
  });

  it("asks for one name, whole and in the open, or is malformed", () => {
    const two = withExtension(hello, 0, nameExtension("evil.example"));
    expect(parseClientHello(two)).toEqual({ is: "malformed", why: "it asks for a name twice" });
    const named = (body: Buffer) => parseClientHello(withExtension(nameless, 0, body));
    expect(named(nameExtension("good.example"))).toEqual({ is: "client-hello", serverName: "good.example" });
    for (const body of [
      nameExtension("good.example", "evil.example"),
      nameExtension(),
      nameExtension(""),
      Buffer.alloc(0),
      Buffer.from([0, 3, 1, 0, 0]),
      Buffer.concat([nameExtension("good.example"), Buffer.from("evil")]),
    ]) {
      expect(named(body)).toMatchObject({ is: "malformed" });
    }
  });

  it("is never anything but one of these, whatever of it is changed", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const found = new Set<string>();
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = Buffer.from(hello.subarray(0, 1 + random(hello.length)));
      for (let changes = random(4); changes >= 0; changes -= 1) bytes[random(bytes.length)] = random(256);
      const first = parseClientHello(bytes);
      found.add(first.is === "incomplete" && first.needed <= bytes.length ? "stuck" : first.is);
    }
    expect([...found].sort()).toEqual(["client-hello", "incomplete", "malformed", "other"]);
  });
});

describe("a tunnel goes on", () => {
  it("at port 443 for TLS to its own name alone", () => {
    expect(says(hello)).toBeUndefined();
    expect(says(hello, { host: "other.example", port: 443 })).toContain('"good.example", which is another name');
    expect(says(hello, { host: "93.184.216.34", port: 443 })).toContain("open it to the name");
    expect(says(nameless)).toContain("its TLS names no server");
    expect(says(nameless, { host: "93.184.216.34", port: 443 })).toBeUndefined();
    expect(says(Buffer.from("GET / HTTP/1.1\r\n"))).toBe("only TLS is spoken at port 443, and this is none");
    expect(says(hello.subarray(0, 50))).toBe("what TLS says first did not come to its end in time");
    expect(says(Buffer.alloc(0))).toBe("nothing was said in time");
    expect(says(Buffer.concat([hello.subarray(0, 5), Buffer.alloc(hello.length - 5)]))).toContain("is no TLS");
  });

  it("at another port of the list for anything, but not for TLS to another name", () => {
    const target = { host: "good.example", port: 5432 };
    expect(says(Buffer.from("anything"), target)).toBeUndefined();
    expect(says(nameless, target)).toBeUndefined();
    expect(says(Buffer.alloc(0), target)).toBeUndefined();
    expect(says(hello, { ...target, host: "other.example" })).toContain("another name");
  });
});
