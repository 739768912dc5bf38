import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Cloud, startCloud } from "./emulator.js";

/** Answers each request with what it was, and echoes upgraded connections. */
const server = `
const server = require("http").createServer((request, response) => {
  let size = 0;
  request.on("data", (data) => { size += data.length; });
  request.on("end", () => response.end(JSON.stringify({ method: request.method, url: request.url, size })));
});
server.on("upgrade", (request, socket) => {
  const key = request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const accept = require("crypto").createHash("sha1").update(key).digest("base64");
  socket.write("HTTP/1.1 101 S\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n");
  socket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
});
server.listen(Number(process.argv[2]), "127.0.0.1");
`;

let cloud: Cloud;

beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.emulator.close());

async function serve(sandbox: Sandbox, port: number): Promise<void> {
  await sandbox.files.write("server.cjs", server);
  await sandbox.commands.run(`node server.cjs ${port}`, { background: true, timeoutMs: 0 });
  await expect.poll(async () => (await ask(sandbox.getHost(port), "/")).status, { timeout: 10_000 }).toBe(200);
}

async function ask(host: string, path: string, headers: Record<string, string> = {}) {
  const request = get(cloud.emulator.url + path, { headers: { host, ...headers } });
  const [answer]: [IncomingMessage] = (await once(request, "response")) as never;
  return { status: answer.statusCode, body: JSON.parse(await text(answer)) };
}

describe("a port of a sandbox of the emulated E2B", () => {
  it("is reached by its host and by headers", async () => {
    const sandbox = await cloud.client.Sandbox.create();
    await serve(sandbox, 18_741);
    expect(await ask(sandbox.getHost(18_741), "/a?b=c")).toEqual({
      status: 200,
      body: { method: "GET", url: "/a?b=c", size: 0 },
    });
    const headers = { "e2b-sandbox-id": sandbox.sandboxId, "e2b-sandbox-port": "18741" };
    const sent = await fetch(`${cloud.emulator.url}/up`, { method: "POST", headers, body: Buffer.alloc(2_000_000) });
    expect(await sent.json()).toEqual({ method: "POST", url: "/up", size: 2_000_000 });
  });

  it("takes WebSockets", async () => {
    const sandbox = await cloud.client.Sandbox.create();
    await serve(sandbox, 18_742);
    const headers = { host: sandbox.getHost(18_742) };
    const socket = new WebSocket(cloud.emulator.url.replace("http", "ws"), { headers });
    const [message] = await once(socket, "message");
    expect(String(message)).toBe("hi");
    const closed = once(socket, "close");
    await sandbox.kill();
    await closed;
  });

  it("is told of when it is closed, and when the sandbox is gone", async () => {
    const sandbox = await cloud.client.Sandbox.create();
    expect(await ask(sandbox.getHost(18_743), "/")).toMatchObject({
      status: 502,
      body: { message: "The sandbox is running but port is not open", port: 18_743 },
    });
    await sandbox.kill();
    expect(await ask(sandbox.getHost(18_743), "/")).toMatchObject({
      status: 502,
      body: { sandboxId: sandbox.sandboxId, message: "The sandbox was not found" },
    });
  });

  it("wants a token when it is not public", async () => {
    const sandbox = await cloud.client.Sandbox.create({ network: { allowPublicTraffic: false } });
    await sandbox.files.write("server.cjs", server);
    await sandbox.commands.run("node server.cjs 18744", { background: true, timeoutMs: 0 });
    const host = sandbox.getHost(18_744);
    expect((await ask(host, "/")).status).toBe(403);
    const headers = { "e2b-traffic-access-token": sandbox.trafficAccessToken ?? "" };
    await expect.poll(async () => (await ask(host, "/", headers)).status, { timeout: 10_000 }).toBe(200);
  });
});
