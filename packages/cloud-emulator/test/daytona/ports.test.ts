import { readFile } from "node:fs/promises";
import type { Sandbox } from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;
let port: number;

const server = new URL("./server.py", import.meta.url);

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
  await sandbox.fs.uploadFile(await readFile(server), "server.py");
  await sandbox.process.executeCommand("python3 server.py >log 2>&1 & until [ -s port ]; do sleep 0.05; done");
  port = Number((await sandbox.fs.downloadFile("port")).toString());
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("a server in a sandbox", () => {
  it("is reached by its preview, with a token", async () => {
    const { url, token } = await sandbox.getPreviewLink(port);
    const headers = { "x-daytona-preview-token": token };
    expect(await (await fetch(`${url}/some/path?a=1&b=2`, { headers })).text()).toBe("GET /some/path?a=1&b=2");
    const posted = await fetch(url, { method: "POST", body: "x".repeat(300_000), headers });
    expect(posted.status).toBe(201);
    expect(await posted.text()).toHaveLength(300_000);
    expect(await (await fetch(`${url}/?a=1&DAYTONA_SANDBOX_AUTH_KEY=${token}`)).text()).toBe("GET /?a=1");
    expect((await fetch(url)).status).toBe(401);
  });

  it("is reached without one where the sandbox is public", async () => {
    const open = await cloud.daytona.create({ public: true });
    const { url } = await open.getPreviewLink(port);
    expect((await fetch(url)).status).not.toBe(401);
    await open.delete();
  });

  it("is reached by a signed address, until that expires", async () => {
    const signed = await sandbox.getSignedPreviewUrl(port, 60);
    expect(await (await fetch(`${signed.url}/x`)).text()).toBe("GET /x");
    await sandbox.expireSignedPreviewUrl(port, signed.token);
    expect((await fetch(`${signed.url}/x`)).status).not.toBe(200);
    const short = await sandbox.getSignedPreviewUrl(port, 60);
    await cloud.emulator.clock.advance(61_000);
    expect((await fetch(short.url)).status).toBe(401);
  });

  it("is reached through the toolbox, with a key", async () => {
    const address = `${sandbox.toolboxProxyUrl}/${sandbox.id}/proxy/${port}/in?q=1`;
    const headers = { authorization: `Bearer ${cloud.emulator.apiKey}` };
    expect(await (await fetch(address, { headers })).text()).toBe("GET /in?q=1");
    expect((await fetch(address)).status).toBe(401);
  });

  it("takes WebSockets", async () => {
    const { url, token } = await sandbox.getPreviewLink(port);
    const socket = new WebSocket(url.replace("http", "ws"), { headers: { "x-daytona-preview-token": token } });
    const message = await new Promise((resolve, reject) => {
      socket.on("message", (data) => resolve(String(data)));
      socket.on("error", reject);
    });
    expect(message).toBe("hello");
    socket.terminate();
  });

  it("is answered for by 502 when it is not there, and by 400 when the sandbox is stopped", async () => {
    const { url, token } = await sandbox.getPreviewLink(1);
    const headers = { "x-daytona-preview-token": token };
    const closed = await fetch(url, { headers });
    expect(closed.status).toBe(502);
    expect(await closed.json()).toMatchObject({ statusCode: 502, source: "DAYTONA_PROXY" });
    const stopped = await cloud.daytona.create();
    const link = await stopped.getPreviewLink(port);
    await stopped.stop();
    expect((await fetch(link.url, { headers: { "x-daytona-preview-token": link.token } })).status).toBe(400);
    await stopped.delete();
  });
});
