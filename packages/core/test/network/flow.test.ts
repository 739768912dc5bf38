import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createWebServer, get } from "node:http";
import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { EgressProxyOptions } from "../../src/network/egress-proxy.js";
import { listening, Proxied, rest } from "./proxied.js";

const mebibyte = 2 ** 20;
const piece = Buffer.alloc(65_536, "x");
/** What was given to be sent, in bytes, of the last download that was asked for. */
let given = 0;
const { server: web, port } = await listening(
  createWebServer((request, response) => {
    if (request.url === "/never") return;
    given = 0;
    Readable.from(pieces(Number(request.url?.slice(1)))).pipe(response);
  }),
);

function* pieces(bytes: number) {
  for (let left = bytes; left > 0; left -= piece.length) {
    given += piece.length;
    yield piece;
  }
}

const started: Proxied[] = [];
afterEach(async () => {
  for (const proxied of started.splice(0)) await proxied.stop();
});
afterAll(() => {
  web.closeAllConnections();
  web.close();
});

async function proxied(options: Partial<EgressProxyOptions> = {}): Promise<Proxied> {
  const made = await Proxied.start({ allow: [`127.0.0.1:${port}`], ...options });
  started.push(made);
  return made;
}

const request = (path: string, ...lines: string[]) =>
  [
    `GET http://127.0.0.1:${port}/${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Connection: close",
    ...lines,
    "",
    "",
  ].join("\r\n");

describe("bytes", () => {
  it("of a large download pass in bounded memory, and hold nobody up who shares the proxy", async () => {
    const own = await proxied();
    const before = process.memoryUsage.rss();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 10);
    const path = `http://127.0.0.1:${port}/${128 * mebibyte}`;
    const download = new Promise<number>((resolve) => {
      let bytes = 0;
      get({ port: own.port, path, headers: { host: `127.0.0.1:${port}` } }, (answer) => {
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        answer.on("end", () => resolve(bytes));
      });
    });
    const stalled = own.connect();
    stalled.write(request(String(512 * mebibyte)));
    await once(stalled, "readable");
    expect(await own.say(request("1"))).toContain("200 OK");
    expect(await download).toBe(128 * mebibyte);
    clearInterval(watch);
    expect((most - before) / mebibyte).toBeLessThan(96);
  });

  it("are held back at their source while nobody takes them, in requests and in tunnels", async () => {
    const own = await proxied();
    for (const way of [request(String(512 * mebibyte)), `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`]) {
      const socket = own.connect();
      socket.write(way);
      await once(socket, "readable");
      if (way.startsWith("CONNECT")) socket.write(`GET /${512 * mebibyte} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await pause(200);
      expect([given > 0, given < 32 * mebibyte]).toEqual([true, true]);
      socket.destroy();
    }
  });

  it("of an upload that its host does not take are held back, and arrive in the end", async () => {
    let taken = 0;
    const sockets: Socket[] = [];
    const host = await listening(createServer((socket) => sockets.push(socket)));
    const own = await proxied({ allow: [`127.0.0.1:${host.port}`] });
    const { socket } = await own.tunnel(`127.0.0.1:${host.port}`);
    let sent = 0;
    const hash = createHash("sha256");
    while (socket.write(piece) || (await Promise.race([once(socket, "drain"), pause(100, "full")])) !== "full") {
      sent += piece.length;
      hash.update(piece);
    }
    sent += piece.length;
    hash.update(piece);
    expect(sent).toBeLessThan(32 * mebibyte);
    const arrived = createHash("sha256");
    socket.end();
    for await (const chunk of sockets[0] ?? []) {
      taken += chunk.length;
      arrived.update(chunk);
    }
    expect([taken, arrived.digest("hex")]).toEqual([sent, hash.digest("hex")]);
    socket.destroy();
    host.server.close();
  });

  it("end at the most that the sandbox may move, whichever way, and nothing more begins", async () => {
    const own = await proxied({ limits: { maxBytes: mebibyte } });
    const answer = await own.say(request(String(8 * mebibyte)));
    expect(answer.length).toBeGreaterThan(mebibyte / 2);
    expect(answer.length).toBeLessThan(2 * mebibyte);
    const why = "this sandbox has moved 1048576 bytes, which is the most that it may";
    expect(await own.say(request("1"))).toContain(`403 Forbidden: ${why}`);
    expect(await own.say(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`)).toContain(`403 Forbidden: ${why}`);
    expect(own.contacts.map(({ reason }) => reason)).toEqual([why, why, why]);
    const tunnels = await proxied({ limits: { maxBytes: mebibyte } });
    const { socket } = await tunnels.tunnel(`127.0.0.1:${port}`);
    socket.write(`GET /${8 * mebibyte} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await rest(socket)).length).toBeLessThan(2 * mebibyte);
    await expect.poll(() => tunnels.contacts[0]?.reason).toBe(why);
  });
});

describe("a tunnel", () => {
  it("says what its host says first, and ends each way alone", async () => {
    const host = await listening(
      createServer({ allowHalfOpen: true }, (socket) => {
        socket.write("220 ready\r\n");
        let said = "";
        socket.on("data", (chunk) => {
          said += chunk;
        });
        socket.on("end", () => socket.end(`you said ${said}`));
      }),
    );
    const own = await proxied({ allow: [`127.0.0.1:${host.port}`] });
    const { socket } = await own.tunnel(`127.0.0.1:${host.port}`);
    const [greeting] = await once(socket.resume(), "data");
    expect(String(greeting)).toBe("220 ready\r\n");
    socket.end("hello");
    expect(await rest(socket)).toBe("you said hello");
    await expect.poll(() => own.contacts.length).toBe(1);
    expect(own.contacts[0]).toMatchObject({ protocol: "tcp", decision: "allowed", bytesIn: 25, bytesOut: 5 });
    expect(own.contacts[0]?.reason).toBeUndefined();
    host.server.close();
  });

  it("in which nothing is said ends in time, and so does one whose client or proxy goes", async () => {
    const hosts: Socket[] = [];
    const host = await listening(createServer((socket) => hosts.push(socket.on("error", () => undefined))));
    const target = `127.0.0.1:${host.port}`;
    const own = await proxied({ allow: [target], limits: { idleMs: 150 } });
    const idle = await own.tunnel(target);
    await rest(idle.socket);
    const why = "nothing came for 150 ms";
    await expect.poll(() => own.contacts[0]).toMatchObject({ decision: "allowed", reason: why });
    const leaving = await own.tunnel(target);
    leaving.socket.destroy();
    const staying = await own.tunnel(target);
    const asking = own.say(request("never"));
    await own.proxy.close();
    expect([await rest(staying.socket), await asking]).toEqual(["", expect.any(String)]);
    expect(own.contacts.length).toBeGreaterThanOrEqual(3);
    await expect.poll(() => hosts.every(({ destroyed }) => destroyed)).toBe(true);
    expect(await own.say(request("1"))).toBe("");
    host.server.close();
  });
});

describe("a WebSocket", () => {
  it("is a tunnel once its host has agreed, and an answer where it has not", async () => {
    let refusing = false;
    const host = await listening(createWebServer());
    host.server.on("upgrade", (upgrade, socket) => {
      if (refusing) socket.end("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 3\r\n\r\nno!");
      else {
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Host: ${upgrade.headers.host}\r\n\r\n`,
        );
        socket.pipe(socket);
      }
    });
    const authority = `127.0.0.1:${host.port}`;
    const own = await proxied({ allow: [authority] });
    const ask = (url: string) =>
      `GET ${url} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: x\r\n\r\n`;
    const agreed = await own.say([ask(`http://${authority}/`), "frames"], (text) => text.endsWith("frames"));
    expect(agreed).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*frames$/);
    expect(agreed).toContain(`X-Host: ${authority}`);
    refusing = true;
    const smuggled = `GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n`;
    expect(await own.say(ask(`http://${authority}/`) + smuggled)).toMatch(/^HTTP\/1\.1 426 [\s\S]*\r\n\r\nno!$/);
    expect(await own.say(ask("http://evil.example/"))).toContain("403 Forbidden: evil.example is not in");
    await expect
      .poll(() => own.contacts.map(({ protocol, decision }) => `${protocol} ${decision}`))
      .toEqual([...["websocket allowed", "websocket allowed", "websocket refused"]]);
    host.server.close();
    host.server.closeAllConnections();
  });
});
