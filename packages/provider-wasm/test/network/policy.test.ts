import type { Resolve } from "@sandkit/core/network";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { GuestRequest, RequestNews } from "../../src/network/messages.js";
import { type NetworkSeams, SandboxNetwork } from "../../src/network/sandbox-network.js";
import { WebServer } from "./web-server.js";

const server = new WebServer();
const networks: SandboxNetwork[] = [];
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => {
  for (const network of networks.splice(0)) network.close();
  server.connections = 0;
});

interface Outcome {
  readonly status?: number;
  readonly error?: string;
  readonly message: string;
  readonly bytes: number;
}

/** One request to its end, its body taken as it comes. */
function ask(network: SandboxNetwork, request: Partial<GuestRequest> & { url: string }): Promise<Outcome> {
  const whole: GuestRequest = { method: "GET", headers: [], bodyBytes: null, decode: false, ...request };
  let [status, bytes]: [number | undefined, number] = [undefined, 0];
  return new Promise((resolve) => {
    const exchange = network.open(whole, {
      sent: () => undefined,
      news(news: RequestNews) {
        if ("head" in news) status = news.head.status;
        if ("bytes" in news) {
          bytes += news.bytes.length;
          exchange.taken(news.bytes.length);
        }
        if ("end" in news) resolve({ ...(status !== undefined && { status }), message: "", bytes });
        if ("error" in news) resolve({ error: news.error.code, message: news.error.message, bytes });
      },
    });
  });
}

function network(allow: readonly string[], seams: NetworkSeams = {}): SandboxNetwork {
  const made = new SandboxNetwork(allow, seams);
  networks.push(made);
  return made;
}

/** Names that lead where a test wants them to. */
const leadingTo =
  (...addresses: string[]): Resolve =>
  (_name, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };

describe("addresses of this machine and its network", () => {
  const notations = [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0177.0.0.1",
    "2130706433",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[::127.0.0.1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "１２７.0.0.1",
    "127。0。0。1",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "100.100.100.200",
  ];
  for (const host of notations) {
    it(`are not reached as ${host}, whatever names are permitted`, async () => {
      const outcome = await ask(network(["*", `*:${server.port}`]), { url: `http://${host}:${server.port}/hello` });
      // Not every system resolves every one of them.
      expect(outcome).toMatchObject({ error: expect.stringMatching(/^(?:EACCES|ENOTFOUND)$/) });
      expect(server.connections).toBe(0);
    });
  }

  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "ff02::1",
  ]) {
    it(`are not reached by a listed name that leads to ${address}`, async () => {
      const own = network([`good.example:${server.port}`], { resolve: leadingTo(address) });
      const outcome = await ask(own, { url: `http://good.example:${server.port}/hello` });
      expect(outcome).toMatchObject({ error: "EACCES", message: expect.stringContaining("good.example is refused") });
      expect(outcome.message).not.toContain(address);
      expect(server.connections).toBe(0);
    });
  }

  it("are not reached by a name of which only one address is public", async () => {
    const own = network([`good.example:${server.port}`], { resolve: leadingTo("93.184.216.34", "127.0.0.1") });
    expect(await ask(own, { url: `http://good.example:${server.port}/` })).toMatchObject({ error: "EACCES" });
    expect(server.connections).toBe(0);
  });

  it("are not reached by a name that leads elsewhere the second time", async () => {
    const asked: string[] = [];
    const rebinding: Resolve = (name, _options, callback) => {
      asked.push(name);
      callback(null, [{ address: asked.length === 1 ? "192.0.2.1" : "127.0.0.1", family: 4 }]);
    };
    const own = network([`good.example:${server.port}`], { resolve: rebinding });
    for (const _ of [1, 2]) {
      expect(await ask(own, { url: `http://good.example:${server.port}/` })).toMatchObject({ error: "EACCES" });
    }
    expect([asked.length, server.connections]).toEqual([2, 0]);
  });

  it("are reached where their creator lists them, at that port alone", async () => {
    expect(await ask(network([server.host]), { url: `${server.url}/hello` })).toMatchObject({ status: 200, bytes: 5 });
    const named = network([`localhost:${server.port}`]);
    expect(await ask(named, { url: `http://localhost:${server.port}/hello` })).toMatchObject({ status: 200 });
    expect(await ask(named, { url: `${server.url}/hello` })).toMatchObject({ error: "EACCES" });
    expect(await ask(network(["127.0.0.1"]), { url: `${server.url}/hello` })).toMatchObject({ error: "EACCES" });
  });

  it("are not reached by localhost where that leads to another machine", async () => {
    const own = network([`localhost:${server.port}`], { resolve: leadingTo("10.0.0.1") });
    expect(await ask(own, { url: `http://localhost:${server.port}/` })).toMatchObject({ error: "EACCES" });
  });
});

describe("what is no request", () => {
  const own = () => network([server.host]);
  for (const url of [
    "ftp://127.0.0.1/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "/hello",
    "",
    "http://",
    "ws://a/",
  ]) {
    it(`is refused: ${JSON.stringify(url)}`, async () => {
      expect(await ask(own(), { url })).toMatchObject({ error: expect.stringMatching(/^(?:EINVAL|EACCES)$/) });
    });
  }

  for (const header of [
    ["Host", "internal.example"],
    ["host", "127.0.0.1"],
    ["Connection", "upgrade"],
    ["Proxy-Authorization", "Basic x"],
    ["Proxy-Connection", "keep-alive"],
    ["Content-Length", "5"],
    ["Transfer-Encoding", "chunked"],
    ["TE", "trailers"],
    ["Upgrade", "websocket"],
    ["Expect", "100-continue"],
    ["X-Bad", "a\r\nX-Injected: 1"],
    ["X-Bad", "a\nb"],
    ["X-Bad", "a\0b"],
    ["X-Bad", "漢"],
    ["X\r\nInjected", "1"],
    ["X Bad", "1"],
    ["", "1"],
  ] as const) {
    it(`a header ${JSON.stringify(header)} is refused`, async () => {
      expect(await ask(own(), { url: `${server.url}/echo`, headers: [header] })).toMatchObject({
        error: expect.stringMatching(/^(?:EINVAL|EACCES)$/),
      });
      expect(server.connections).toBe(0);
    });
  }

  it("line breaks in an address do not reach the connection", async () => {
    await ask(own(), { url: `${server.url}/echo?a\r\nX-Injected: 1` });
    await ask(own(), { url: `${server.url}/ec\tho HTTP/1.1` });
    expect(server.seen.every(({ headers }) => headers["x-injected"] === undefined)).toBe(true);
  });

  for (const method of ["CONNECT", "TRACE", "GET / HTTP/1.1\r\nX: 1", "", "G T"]) {
    it(`the method ${JSON.stringify(method)} is refused`, async () => {
      expect(await ask(own(), { url: `${server.url}/echo`, method })).toMatchObject({ error: "EINVAL" });
    });
  }

  it("a name or password in the address is refused", async () => {
    expect(await ask(own(), { url: `http://me:pw@${server.host}/` })).toMatchObject({ error: "EINVAL" });
  });

  it("what a guest could send that our drivers never do is refused, and harms nobody", async () => {
    const odd = { url: `${server.url}/`, headers: [null, 5, [[]]], bodyBytes: "x", method: {} };
    expect(await ask(own(), odd as never)).toMatchObject({ error: expect.any(String) });
    expect(await ask(own(), { url: 5 } as never)).toMatchObject({ error: expect.any(String) });
    expect(await ask(own(), { url: `${server.url}/`, headers: "no" } as never)).toMatchObject({ error: "EINVAL" });
  });
});

describe("bounds", () => {
  it("eight requests at a time, the others in their order, all of them in the end", async () => {
    server.mostOpen = 0;
    server.on("/late", (_request, response) => void setTimeout(() => response.end("late"), 30));
    const own = network([server.host]);
    const all = await Promise.all(Array.from({ length: 50 }, () => ask(own, { url: `${server.url}/late` })));
    expect(all.every(({ status, bytes }) => status === 200 && bytes === 4)).toBe(true);
    expect(server.mostOpen).toBeLessThanOrEqual(8);
  });

  it("an answer larger than the most fails with what came before", async () => {
    const own = network([server.host], { limits: { maxBodyBytes: 100_000 } });
    expect(await ask(own, { url: `${server.url}/bytes?100000` })).toMatchObject({ status: 200, bytes: 100_000 });
    expect(await ask(own, { url: `${server.url}/bytes?200000` })).toMatchObject({ error: "EFBIG" });
  });

  it("an answer that is small as long as it is compressed counts as what it becomes", async () => {
    const own = network([server.host], { limits: { maxBodyBytes: 5_000 } });
    expect(await ask(own, { url: `${server.url}/gzip`, decode: true })).toMatchObject({ error: "EFBIG" });
    expect(await ask(own, { url: `${server.url}/gzip` })).toMatchObject({ status: 200 });
  });

  it("a host that is silent, or does not take a connection, is given up", async () => {
    server.on("/never", () => undefined);
    const own = network([server.host], { limits: { idleMs: 100 } });
    expect(await ask(own, { url: `${server.url}/never` })).toMatchObject({ error: "ETIMEDOUT" });
    const silent = network(["good.example"], { resolve: () => undefined, limits: { connectMs: 100 } });
    expect(await ask(silent, { url: "http://good.example/" })).toMatchObject({ error: "ETIMEDOUT" });
    await expect.poll(() => server.open).toBe(0);
  });

  it("a reader that stands still holds the host up, and does not fail", async () => {
    let written = 0;
    server.on("/flood", (_request, response) => {
      const piece = Buffer.alloc(65_536);
      const write = () => {
        while (written < 64 * 1024 * 1024) {
          written += piece.length;
          if (!response.write(piece)) return void response.once("drain", write);
        }
        response.end();
      };
      write();
    });
    const own = network([server.host], { limits: { idleMs: 200 } });
    const news: RequestNews[] = [];
    const request: GuestRequest = {
      method: "GET",
      url: `${server.url}/flood`,
      headers: [],
      bodyBytes: null,
      decode: false,
    };
    const exchange = own.open(request, { sent: () => undefined, news: (one) => void news.push(one) });
    await new Promise((resolve) => setTimeout(resolve, 600));
    const held = news.reduce((sum, one) => sum + ("bytes" in one ? one.bytes.length : 0), 0);
    expect(held).toBeLessThan(1024 * 1024);
    expect(news.some((one) => "error" in one)).toBe(false);
    exchange.close();
    await expect.poll(() => server.open).toBe(0);
  });

  it("a body of another length than was told fails", async () => {
    const own = network([server.host]);
    const outcome = await new Promise((resolve) => {
      const request: GuestRequest = {
        method: "POST",
        url: `${server.url}/echo`,
        headers: [],
        bodyBytes: 5,
        decode: false,
      };
      const exchange = own.open(request, {
        sent: () => undefined,
        news: (news) => "error" in news && resolve(news.error.code),
      });
      exchange.send(Buffer.from("123"), true);
    });
    expect(outcome).toBe("EINVAL");
  });

  it("closing the network ends what is under way", async () => {
    server.on("/never", () => undefined);
    const own = network([server.host]);
    const outcome = ask(own, { url: `${server.url}/never` });
    await expect.poll(() => server.open).toBe(1);
    own.close();
    expect(await outcome).toMatchObject({ error: "ECONNRESET" });
    await expect.poll(() => server.open).toBe(0);
  });
});

describe("connections", () => {
  it("are kept for the next request, and made anew where the host has closed them", async () => {
    const own = network([server.host]);
    await ask(own, { url: `${server.url}/hello` });
    await ask(own, { url: `${server.url}/hello` });
    expect(server.connections).toBe(1);
    server.on("/closing", (request, response) => {
      response.end("bye");
      setTimeout(() => request.socket.destroy(), 20);
    });
    await ask(own, { url: `${server.url}/closing` });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await ask(own, { url: `${server.url}/hello` })).toMatchObject({ status: 200 });
  });

  it("bring no cookie, no credentials and no name of this process along", async () => {
    const own = network([server.host]);
    await ask(own, { url: `${server.url}/two` });
    server.seen.length = 0;
    await ask(own, { url: `${server.url}/echo` });
    expect(Object.keys(server.seen[0]?.headers ?? {}).sort()).toEqual(["connection", "host"]);
  });
});
