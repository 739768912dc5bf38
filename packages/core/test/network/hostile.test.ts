import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { EgressProxy, type EgressProxyOptions } from "../../src/network/egress-proxy.js";
import { listening, Proxied } from "./proxied.js";

/** What arrives at a host, byte by byte, and an answer to each head. */
let arrived = "";
const { server: host, port } = await listening(
  createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      arrived += chunk.toString("latin1");
      if (arrived.includes("\r\n\r\n")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
  }),
);
const started: Proxied[] = [];
afterEach(async () => {
  for (const proxied of started.splice(0)) await proxied.stop();
  arrived = "";
});
afterAll(() => host.close());

async function proxied(limits: EgressProxyOptions["limits"] = {}): Promise<Proxied> {
  const made = await Proxied.start({ allow: [`127.0.0.1:${port}`], limits });
  started.push(made);
  return made;
}

const authority = `127.0.0.1:${port}`;
const head = (...lines: string[]) =>
  [`POST http://${authority}/ HTTP/1.1`, `Host: ${authority}`, ...lines].join("\r\n");

describe("what could be read in two ways", () => {
  const smuggled = "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  const requests: Readonly<Record<string, string>> = {
    "two lengths": `${head("Content-Length: 0", `Content-Length: ${smuggled.length}`)}\r\n\r\n${smuggled}`,
    "a list of lengths": `${head("Content-Length: 0, 5")}\r\n\r\nhello`,
    "a length and chunks": `${head("Content-Length: 4", "Transfer-Encoding: chunked")}\r\n\r\n0\r\n\r\n${smuggled}`,
    "chunks twice": `${head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")}\r\n\r\n0\r\n\r\n`,
    "another encoding": `${head("Transfer-Encoding: gzip, chunked")}\r\n\r\n0\r\n\r\n`,
    "an encoding that is none": `${head("Transfer-Encoding: xchunked")}\r\n\r\n0\r\n\r\n`,
    "a name with a space": `${head("Content-Length : 4")}\r\n\r\nabcd`,
    "a folded header": `${head("X-A: 1", " Content-Length: 4")}\r\n\r\nabcd`,
    "a bare line feed": `${head("X-A: 1\nContent-Length: 4")}\r\n\r\nabcd`,
    "a bare carriage return": `${head("X-A: 1\rContent-Length: 4")}\r\n\r\nabcd`,
    "a zero byte": `${head("X-A: 1\0")}\r\n\r\n`,
    "a negative length": `${head("Content-Length: -1")}\r\n\r\n`,
    "a length with a sign": `${head("Content-Length: +4")}\r\n\r\nabcd`,
    "a length beyond all": `${head("Content-Length: 99999999999999999999999")}\r\n\r\n`,
    "a chunk without end": `${head("Transfer-Encoding: chunked")}\r\n\r\nfffffffffffffffff\r\n`,
    "a chunk size with junk": `${head("Transfer-Encoding: chunked")}\r\n\r\n4_\r\nabcd\r\n0\r\n\r\n`,
    "two targets": `GET http://${authority}/ http://evil.example/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    "no version": `GET http://${authority}/\r\n\r\n`,
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a user": `GET http://${authority}@evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    "a backslash": `GET http://${authority}\\@evil.example/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    "another scheme": "GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "https without a tunnel": `GET https://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    "a path alone": `GET /etc HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    "no path": `OPTIONS * HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    "a tunnel to no port": "CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
    "a tunnel to an address of the web": `CONNECT http://${authority}/ HTTP/1.1\r\n\r\n`,
    "a tunnel with a zone": "CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\n\r\n",
    "a tunnel to port 0": "CONNECT 127.0.0.1:0 HTTP/1.1\r\n\r\n",
    "a trace": `TRACE http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    "TLS to the proxy": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    nothing: `${"\r\n".repeat(2_000)}\0`,
  };

  it.each(Object.entries(requests))("%s: reaches no host", async (_name, request) => {
    const own = await proxied({ keepAliveMs: 100 });
    const answer = await own.say(request);
    expect(answer).toMatch(/^HTTP\/1\.1 (?:400|403) [ -~]+\r\n/);
    expect(answer).not.toContain("\r\n\r\nok");
    expect(arrived).not.toMatch(/evil/);
    expect(arrived).toBe("");
  });

  it("no noise harms it, and it goes on serving others", async () => {
    const own = await proxied({ headerMs: 50, keepAliveMs: 50 });
    const pieces = Object.values(requests).join("");
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    await Promise.all(
      Array.from({ length: 150 }, async () => {
        const start = random(pieces.length);
        const noise = Buffer.from(pieces.slice(start, start + 1 + random(2_000)), "latin1");
        for (let changes = random(20); changes > 0; changes -= 1) noise[random(noise.length)] = random(256);
        const socket = own.connect();
        if (random(2)) socket.write("CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n");
        if (random(3)) socket.end(noise);
        else socket.write(noise, () => socket.destroy());
        await once(socket.resume(), "close");
      }),
    );
    expect(arrived).not.toContain("evil.example");
    arrived = "";
    expect(await own.say(`${head("Connection: close")}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

describe("floods", () => {
  it("of headers end with 400, whether they are large or many", async () => {
    const own = await proxied();
    expect(await own.say(`${head(`X-Large: ${"x".repeat(40_000)}`)}\r\n\r\n`)).toContain("larger than 16384 bytes");
    const many = Array.from({ length: 1_000 }, (_, index) => `X-${index}:1`);
    expect(await own.say(`${head(...many, "Connection: close")}\r\n\r\n`)).toContain("more than 256 headers");
    expect(arrived).toBe("");
  });

  it("of one byte at a time end in time, before a request and between two", async () => {
    const own = await proxied({ headerMs: 100, keepAliveMs: 150 });
    const slow = async (first: string) => {
      const socket = own.connect();
      socket.write(first);
      let answer = "";
      socket.on("data", (chunk) => {
        answer += chunk.toString();
      });
      const timer = setInterval(() => socket.write("X: 1\r\n"), 20);
      await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
      clearInterval(timer);
      socket.destroy();
      return answer;
    };
    const whole = `${head()}\r\n\r\n`;
    const [before, between, silent] = await Promise.all([
      slow(`GET http://${authority}/ HTTP/1.1\r\n`),
      slow(`${whole}GET http://${authority}/ HTTP/1.1\r\n`),
      own.say([]),
    ]);
    for (const answer of [before, silent]) expect(answer).toContain("did not come to its end in time");
    expect(between).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*ok$/);
  });

  it("of requests ahead of their answers are served one after another, and ended when there are too many", async () => {
    const own = await proxied();
    const one = `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
    const answers = (text: string) => text.match(/200 OK/g)?.length ?? 0;
    const all = await own.say(one.repeat(15), (text) => answers(text) === 15 && text.endsWith("ok"));
    expect(all).toMatch(/^HTTP/);
    expect(answers(await own.say(one.repeat(5_000)))).toBeLessThan(40);
    expect(own.contacts.length).toBeLessThan(60);
  });

  it("of connections: so many at one time, the others are told, and one that has been answered makes room", async () => {
    const own = await proxied({ maxConnections: 3 });
    const one = `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
    const open: Socket[] = [];
    for (let index = 0; index < 3; index += 1) {
      const socket = own.connect();
      await once(socket, "connect");
      open.push(socket);
    }
    expect(await own.say(one)).toContain("503 Service Unavailable: more than 3 connections are open: close some");
    open[0]?.write(one);
    await once(open[0] as Socket, "data");
    expect(await own.say(one, (text) => text.endsWith("ok"))).toMatch(/^HTTP\/1\.1 200 OK/);
    for (const socket of open) socket.destroy();
  });

  it("of ten thousand connections at one time keep nobody out for longer than they are there", async () => {
    const own = new EgressProxy({ allow: [`127.0.0.1:${port}`] });
    const ends = Array.from({ length: 10_000 }, () => new End());
    for (const end of ends) own.accept(end);
    const said = (end: End) => end.said.startsWith("HTTP/1.1 503");
    await expect.poll(() => ends.filter(said).length).toBe(10_000 - 256);
    for (const end of ends) end.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    const late = new End(`${head("Connection: close")}\r\n\r\n`);
    own.accept(late);
    await expect.poll(() => late.said).toMatch(/^HTTP\/1\.1 200 OK/);
    await own.close();
  });
});

/** A client that says one thing, without the cost of a real connection. */
class End extends Duplex {
  said = "";

  constructor(text?: string) {
    super();
    if (text !== undefined) this.push(text);
  }

  override _read(): void {
    // Says nothing more.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.said += chunk.toString("latin1");
    done();
  }
}
