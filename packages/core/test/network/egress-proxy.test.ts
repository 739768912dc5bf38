import { createServer, type IncomingMessage } from "node:http";
import { createServer as createPlainServer, type Socket } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { EgressProxyOptions } from "../../src/network/egress-proxy.js";
import type { Resolve } from "../../src/network/guarded-lookup.js";
import { leadingTo, listening, Proxied, publicHere } from "./proxied.js";

const seen: IncomingMessage[] = [];
const { server: web, port } = await listening(
  createServer((request, response) => {
    seen.push(request);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://here");
    if (pathname === "/to") response.writeHead(302, { Location: searchParams.get("to") ?? "" }).end();
    else request.pipe(response.writeHead(200, { "X-Path": request.url ?? "", "Proxy-Authenticate": "x" }));
  }),
);
let connections = 0;
web.on("connection", () => {
  connections += 1;
});
const started: Proxied[] = [];
afterEach(async () => {
  for (const proxied of started.splice(0)) await proxied.stop();
  connections = 0;
  seen.length = 0;
});
afterAll(() => {
  web.closeAllConnections();
  web.close();
});

async function proxied(options: EgressProxyOptions): Promise<Proxied> {
  const made = await Proxied.start(options);
  started.push(made);
  return made;
}

const status = (answer: string) => Number(answer.split(" ")[1]);

describe("what is on the list", () => {
  it("is asked in the clear, by requests and by a tunnel, and each contact is told once", async () => {
    const own = await proxied({ allow: [`good.example:${port}`], seams: publicHere });
    const url = `http://good.example:${port}/a/../b%2F?x=%20`;
    const answer = await own.get(
      url,
      "Proxy-Authorization: Basic secret",
      "Connection: X-Mine",
      "X-Mine: 1",
      "X-Other: 2",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain("X-Path: /a/../b%2F?x=%20\r\n");
    expect(answer).not.toMatch(/proxy-authenticate/i);
    expect(seen[0]?.headers).toEqual({ host: `good.example:${port}`, "x-other": "2", connection: "keep-alive" });
    const tunnel = await own.say(
      `CONNECT GOOD.example.:${port} HTTP/1.1\r\n\r\nGET /t HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n`,
    );
    expect(tunnel).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*X-Path: \/t\r\n/);
    await expect.poll(() => own.contacts.length).toBe(2);
    const common = { host: "good.example", port, decision: "allowed", at: expect.any(Date) };
    expect(own.contacts).toEqual([
      { ...common, protocol: "http", bytesIn: expect.any(Number), bytesOut: expect.any(Number) },
      { ...common, protocol: "tcp", bytesIn: tunnel.length - 39, bytesOut: 58 },
    ]);
    expect(own.contacts[0]?.bytesIn).toBeGreaterThan(100);
  });

  it("gets bodies of every framing, and answers requests of one connection in their order", async () => {
    const own = await proxied({ allow: [`127.0.0.1:${port}`] });
    const host = `127.0.0.1:${port}`;
    const head = (path: string, ...lines: string[]) =>
      [`POST http://${host}/${path} HTTP/1.1`, `Host: ${host}`, ...lines, "", ""].join("\r\n");
    const answer = await own.say([
      `${head("1", "Content-Length: 3")}one${head("2", "Transfer-Encoding: chunked")}3\r\ntwo\r\n2\r\n!!\r\n`,
      "0\r\n\r\n",
      `${head("3")}${head("4", "Content-Length: 4", "Expect: 100-continue", "Connection: close")}four`,
    ]);
    const bodies = answer
      .replace(/HTTP\/1\.1 100 Continue\r\n\r\n/g, "")
      .split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/);
    expect(bodies.map((body) => body.replace(/\r\n|\b[0-9a-f]+\r\n/g, ""))).toEqual(["", "one", "two!!", "", "four"]);
    expect(seen.map(({ url }) => url)).toEqual(["/1", "/2", "/3", "/4"]);
    expect(seen[2]?.headers["content-length"]).toBe("0");
  });

  it("keeps what a client of HTTP/1.0 asks for, and what asks for h2c gets HTTP/1.1", async () => {
    const own = await proxied({ allow: [`127.0.0.1:${port}`] });
    const old = await own.say(`GET http://127.0.0.1:${port}/old HTTP/1.0\r\n\r\n`);
    expect([status(old), seen[0]?.headers.host]).toEqual([200, `127.0.0.1:${port}`]);
    const h2c = await own.get(`http://127.0.0.1:${port}/h2c`, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c");
    expect([status(h2c), seen[1]?.headers.upgrade]).toEqual([200, undefined]);
  });
});

describe("what is not on the list", () => {
  it("is refused with the entry that would allow it, in a word that every client shows", async () => {
    const own = await proxied({ allow: ["good.example", "*.sub.example:8080"], seams: publicHere });
    const words = (entry: string) =>
      `${entry} is not in this sandbox's allow-list: create it with network: { allow: ["${entry}"] }`;
    for (const [authority, entry] of [
      ["evil.example:443", "evil.example"],
      ["good.example:444", "good.example:444"],
      ["sub.example:8080", "sub.example:8080"],
      ["notgood.example:443", "notgood.example"],
      ["[2606:4700::1111]:443", "[2606:4700::1111]"],
    ] as const) {
      const answer = await own.say(`CONNECT ${authority} HTTP/1.1\r\n\r\n`);
      expect(answer).toContain(`HTTP/1.1 403 Forbidden: ${words(entry)}\r\n`);
      expect(answer).toContain(`\r\n\r\n${words(entry)}\n`);
      expect(answer).toContain("Proxy-Status: sandkit; error=http_request_denied");
    }
    expect(await own.get("http://evil.example/x")).toContain(`403 Forbidden: ${words("evil.example")}`);
    expect(own.contacts).toHaveLength(6);
    expect(
      own.contacts.every(({ decision, bytesIn, bytesOut }) => decision === "refused" && !bytesIn && !bytesOut),
    ).toBe(true);
    expect(own.contacts[1]).toMatchObject({ host: "good.example", port: 444, reason: words("good.example:444") });
  });

  it("is refused anew for each request of a kept connection, and after a redirect", async () => {
    const own = await proxied({ allow: [`127.0.0.1:${port}`] });
    const ask = (url: string, last = false) =>
      `GET ${url} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${last ? "Connection: close\r\n" : ""}\r\n`;
    const answer = await own.say([
      ask(`http://127.0.0.1:${port}/to?to=http://169.254.169.254/latest/meta-data`),
      ask("http://169.254.169.254/latest/meta-data"),
      ask("http://localhost/"),
      ask(`http://127.0.0.1:${port}/still`, true),
    ]);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["302", "403", "403", "200"].map((code) => `HTTP/1.1 ${code}`));
    expect(seen).toHaveLength(2);
  });

  it("is not looked up, also where a tunnel would be HTTP in the clear", async () => {
    const asked: string[] = [];
    const resolve: Resolve = (name, _options, callback) => {
      asked.push(name);
      callback(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    const own = await proxied({ allow: ["good.example"], seams: { ...publicHere, resolve } });
    expect(status(await own.say("CONNECT secret.evil.example:443 HTTP/1.1\r\n\r\n"))).toBe(403);
    expect(status(await own.say("CONNECT secret.evil.example:80 HTTP/1.1\r\n\r\n"))).toBe(403);
    expect(status(await own.get("http://secret.evil.example/"))).toBe(403);
    const nested = await own.say([
      "CONNECT good.example:80 HTTP/1.1\r\n\r\n",
      "CONNECT good.example:80 HTTP/1.1\r\n\r\n",
    ]);
    expect(nested).toContain("400 Bad Request: a tunnel within a tunnel is refused");
    expect(asked).toEqual([]);
  });

  it("ends no program by a listener that fails", async () => {
    const warned: string[] = [];
    const warn = (warning: Error) => warned.push(warning.message);
    process.on("warning", warn);
    const own = await proxied({
      allow: [],
      onContact: () => {
        throw new Error("the listener fails");
      },
    });
    expect(status(await own.get("http://evil.example/"))).toBe(403);
    await expect.poll(() => warned).toContain("the listener fails");
    process.off("warning", warn);
  });

  it("is not reached by another Host header, nor by two", async () => {
    const own = await proxied({ allow: [`127.0.0.1:${port}`] });
    const lines = (...hosts: string[]) =>
      own.say(
        `GET http://127.0.0.1:${port}/ HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join("")}Connection: close\r\n\r\n`,
      );
    expect(status(await lines("internal.example"))).toBe(403);
    expect(status(await lines("127.0.0.1"))).toBe(403);
    expect(status(await lines(`127.0.0.1:${port}`, "internal.example"))).toBe(400);
    expect(status(await lines(`127.0.0.1:${port}, internal.example`))).toBe(403);
    expect(status(await lines())).toBe(400);
    expect(connections).toBe(0);
  });
});

describe("addresses that are not public", () => {
  const notations = [
    ...["127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "0x7f000001", "127.0.0.1.", "0", "0.0.0.0"],
    ...[
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[::127.0.0.1]",
      "[2002:7f00:1::]",
    ],
    ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "169.254.169.254", "0xa9fea9fe", "[fd00:ec2::254]"],
    ...["10.0.0.1", "012.0.0.1", "192.168.1.1", "100.64.0.1", "100.100.100.200", "224.0.0.1", "255.255.255.255"],
    ...["[fe80::1]", "[fc00::1]", "[ff02::1]"],
  ];

  it("are refused in every notation, whatever is allowed by pattern", async () => {
    const everything = [await proxied({ allow: "public" }), await proxied({ allow: ["*", `*:${port}`] })];
    for (const own of everything) {
      const asked = notations.flatMap((host) => [
        own.say(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`),
        own.get(`http://${host}:${port}/`),
      ]);
      const codes = (await Promise.all(asked)).map(status);
      // Not every system resolves every one of them.
      expect(codes.filter((code) => code !== 403 && code !== 502)).toEqual([]);
      expect(own.contacts.every(({ reason }) => reason !== undefined)).toBe(true);
    }
    expect(connections).toBe(0);
  });

  it("are refused where a listed name leads to them, with one address of several, and the second time", async () => {
    for (const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:8.8.8.8", "64:ff9b::a9fe:a9fe"]) {
      const own = await proxied({ allow: [`good.example:${port}`], seams: { resolve: leadingTo(address) } });
      const answer = await own.get(`http://good.example:${port}/`);
      expect(answer).toContain("403 Forbidden: good.example is refused: its address is not public");
      expect(answer).not.toContain(address);
    }
    const mixed = await proxied({
      allow: [`good.example:${port}`],
      seams: { resolve: leadingTo("93.184.216.34", "127.0.0.1") },
    });
    expect(status(await mixed.say(`CONNECT good.example:${port} HTTP/1.1\r\n\r\n`))).toBe(403);

    const asked: string[] = [];
    const rebinding: Resolve = (name, _options, callback) => {
      asked.push(name);
      callback(null, [{ address: asked.length === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    };
    const own = await proxied({
      allow: [`good.example:${port}`],
      seams: { resolve: rebinding, isPublic: (address) => address === "127.0.0.1" },
    });
    const get = `GET http://good.example:${port}/ HTTP/1.1\r\nHost: good.example:${port}\r\nConnection: close\r\n\r\n`;
    expect([status(await own.say(get)), asked.length]).toEqual([200, 1]);
    expect([status(await own.say(`CONNECT good.example:${port} HTTP/1.1\r\n\r\n`)), asked.length]).toEqual([403, 2]);
    expect(connections).toBe(1);
  });

  it("are reached where their creator lists them, or as an inner host of the caller's own", async () => {
    const listed = await proxied({ allow: [`localhost:${port}`] });
    expect(status(await listed.get(`http://localhost:${port}/`))).toBe(200);
    expect(status(await listed.get(`http://127.0.0.1:${port}/`))).toBe(403);
    const seams = { resolve: leadingTo("127.0.0.1") };
    const inner = await proxied({ allow: [], inner: [`mirror.example:${port}`], seams });
    expect(status(await inner.get(`http://mirror.example:${port}/`))).toBe(200);
    const link = { resolve: leadingTo("169.254.169.254") };
    const reserved = { resolve: leadingTo("203.0.113.80") };
    const nowhere = await proxied({ allow: [], inner: [`mirror.example:${port}`], seams: reserved });
    // Its creator has listed it: there is nothing more to list.
    expect(await nowhere.get(`http://mirror.example:${port}/`)).toMatch(
      /403 Forbidden: .* neither public nor of a private/,
    );
    const metadata = await proxied({ allow: "public", inner: [`mirror.example:${port}`], seams: link });
    expect(status(await metadata.get(`http://mirror.example:${port}/`))).toBe(403);
  });
});

describe("failures of hosts", () => {
  it("are told as what they are: 502 with a reason, 504 after a time", async () => {
    const { server, port: closed } = await listening(createPlainServer());
    server.close();
    const sockets: Socket[] = [];
    const silent = await listening(createPlainServer((socket) => sockets.push(socket.resume())));
    const rude = await listening(createPlainServer((socket) => void socket.end("SSH-2.0-OpenSSH\r\n")));
    const own = await proxied({
      allow: ["*", ...[closed, silent.port, rude.port].map((one) => `127.0.0.1:${one}`)],
      seams: {
        resolve: (name, _options, callback) => {
          if (name === "slow.example") return;
          callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), []);
        },
      },
      limits: { connectMs: 150, idleMs: 200 },
    });
    const reasons = await Promise.all([
      own.get(`http://127.0.0.1:${closed}/`),
      own.say(`CONNECT 127.0.0.1:${closed} HTTP/1.1\r\n\r\n`),
      own.get("http://missing.example/"),
      own.get(`http://127.0.0.1:${silent.port}/`),
      own.get(`http://127.0.0.1:${rude.port}/`),
    ]);
    const slow = await own.say("CONNECT slow.example:443 HTTP/1.1\r\n\r\n");
    expect([...reasons, slow].map((answer) => answer.slice(9, answer.indexOf("\r\n")))).toEqual([
      "502 Bad Gateway: 127.0.0.1: the connection was refused",
      "502 Bad Gateway: 127.0.0.1: the connection was refused",
      "502 Bad Gateway: missing.example: the name does not resolve",
      "504 Gateway Timeout: nothing came for 200 ms",
      expect.stringMatching(/^502 Bad Gateway: 127\.0\.0\.1: .*\(HPE_INVALID_CONSTANT\)$/),
      "504 Gateway Timeout: slow.example: no connection within 150 ms",
    ]);
    expect(own.contacts.map(({ decision }) => decision)).toEqual(Array(6).fill("allowed"));
    for (const socket of sockets) socket.destroy();
    silent.server.close();
    rude.server.close();
  });
});
