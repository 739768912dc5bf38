import { createConnection } from "node:net";
import { text } from "node:stream/consumers";
import { Server } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { LegacySessions } from "../src/http/legacy-sessions.js";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { jsonRpc, listTools, send } from "./support/send.js";

let server: HttpServer;
beforeAll(async () => {
  const config = configSchema.parse({
    provider: "@sandkit/provider-nowhere",
    http: { publicUrl: "https://sandbox.example.com/mcp", allowedOrigins: ["https://app.example.com"] },
  });
  server = await serveHttp({ config, token: ["alice:first-secret", "alice:second-secret", "bob:third-secret"] });
});
afterAll(() => server.close());

it("the session longest unused gives way to a new one, once its calls are answered", async () => {
  const closed: number[] = [];
  let made = 0;
  let answer: () => void = () => undefined;
  const sessions = new LegacySessions({
    maxRequestBodySize: 1_000_000,
    maxSessions: 1,
    stateless: async () => new Response("stateless"),
    factory: () => {
      const id = made++;
      const one = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
      one.setRequestHandler("tools/list", () => new Promise((resolve) => (answer = () => resolve({ tools: [] }))));
      one.onclose = () => void closed.push(id);
      return one;
    },
  });
  /** The body of the answer, once it is given. */
  const post = async (method: string, params: Record<string, unknown>, session?: string) => {
    const headers = { ...jsonRpc, ...(session === undefined ? {} : { "mcp-session-id": session }) };
    const request = new Request("http://localhost/mcp", { method: "POST", headers });
    const listeners: (() => void)[] = [];
    const whenOver = (listener: () => void) => void listeners.push(listener);
    const parsedBody = { jsonrpc: "2.0", id: 1, method, params };
    const reply = await sessions.fetch(request, { parsedBody, whenOver });
    const body = await reply.text();
    for (const listener of listeners) listener();
    return { body, session: reply.headers.get("mcp-session-id") ?? "" };
  };
  const clientInfo = { name: "test", version: "1" };
  const begin = () => post("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const first = await begin();
  const owed = post("tools/list", {}, first.session);
  await begin();
  expect(closed).toEqual([]);
  answer();
  expect((await owed).body).toContain('"tools":[]');
  expect(closed).toEqual([0]);
  expect((await post("ping", {}, first.session)).body).toBe("stateless");
  await begin();
  expect(closed).toEqual([0, 1]);
});

const alice = { ...jsonRpc, Authorization: "Bearer first-secret" };
const ask = (more: Record<string, string> = {}, options: Parameters<typeof send>[2] = {}) =>
  send(server.url, { ...jsonRpc, ...more }, { body: listTools, ...options });

describe("a request", () => {
  it.each([
    ["no token", {}, 401],
    ["a wrong token", { Authorization: "Bearer guess" }, 401],
    ["a name for a token", { Authorization: "Bearer alice" }, 401],
    ["a name before the token", { Authorization: "Bearer alice:first-secret" }, 401],
    ["another scheme", { Authorization: "Basic YWxpY2Utc2VjcmV0" }, 401],
    ["a foreign host", { ...alice, Host: "evil.example" }, 403],
    ["a foreign origin", { ...alice, Origin: "https://evil.example" }, 403],
    ["an origin that only begins like one", { ...alice, Origin: "https://app.example.com.evil.example" }, 403],
    ["a null origin", { ...alice, Origin: "null" }, 403],
    ["an origin without TLS", { ...alice, Origin: "http://app.example.com" }, 403],
    ["a user before the host", { ...alice, Host: "user@localhost" }, 400],
    ["a path after the host", { ...alice, Host: "localhost/evil" }, 400],
    ["two hosts", { ...alice, Host: "localhost,evil.example" }, 400],
  ])("with %s is refused", async (_, more, status) => {
    const reply = await ask(more as Record<string, string>);
    expect(reply.status).toBe(status);
    expect(reply.body).not.toContain("run_code");
    expect(reply.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
    const wrong = status === 401 && JSON.stringify(more).includes("Bearer");
    expect(reply.body.includes("this token is not one of the server")).toBe(wrong);
  });

  it.each([
    ["the host of the public URL", { Host: "sandbox.example.com" }],
    ["the host in capitals and with a port", { Host: "LOCALHOST:80" }],
    ["another token of the same user", { Authorization: "Bearer second-secret" }],
    ["the scheme in small letters", { Authorization: "bearer third-secret" }],
    ["the origin of a page of this machine", { Origin: "http://localhost:6274" }],
  ])("with %s is served", async (_, more) => {
    expect(await ask({ ...alice, ...more })).toMatchObject({ status: 200, body: expect.stringContaining("run_code") });
  });

  it.each(["//", "//[", "/\\", "*", "http://[", "http://evil.example/mcp", "/x/../mcp", "/mcp/"])(
    "for %s ends nothing",
    async (path) => {
      expect((await ask({}, { path })).status).toBe(404);
      expect((await ask(alice)).status).toBe(200);
    },
  );

  it("elsewhere learns only where the endpoint is", async () => {
    expect(await ask({}, { path: "/" })).toMatchObject({ status: 404, body: expect.stringContaining("/mcp") });
  });

  it("above the limit is refused, whatever it is", async () => {
    expect((await ask(alice, { body: "x".repeat(3e7) })).status).toBe(413);
  });

  it.each(["GET", "DELETE", "PUT", "PATCH", "TRACE"])("with %s and no session is refused", async (method) => {
    expect((await ask(alice, { method, body: "" })).status).toBe(405);
  });

  it.each([
    ["not HTTP at all", "hello\r\n\r\n"],
    ["two lengths", `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    [
      "a length and chunks",
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ["headers without end", `GET /mcp HTTP/1.1\r\nHost: localhost\r\nA: ${"x".repeat(40_000)}`],
  ])("that is %s ends its own connection alone", async (_, bytes) => {
    const { hostname, port } = new URL(server.url);
    const socket = createConnection(Number(port), hostname);
    socket.write(bytes);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await ask(alice)).status).toBe(200);
  });
});

describe("a client of HTTP+SSE is told what to use instead", () => {
  it.each([
    ["/sse", "GET", 410],
    ["/sse", "POST", 410],
    ["/messages?sessionId=1", "POST", 410],
    ["/mcp", "GET", 405],
  ])("at %s by %s", async (path, method, status) => {
    const reply = await ask({ ...alice, Accept: "text/event-stream" }, { path, method, body: "" });
    expect(reply).toMatchObject({ status, body: expect.stringContaining("streamable HTTP at /mcp") });
  });
});

describe("a page in a browser", () => {
  const preflight = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization" };

  it("of a configured origin may ask and read", async () => {
    const origin = { Origin: "https://app.example.com" };
    const asked = await ask({ ...origin, ...preflight }, { method: "OPTIONS", body: "" });
    expect(asked.status).toBe(204);
    expect(asked.headers["access-control-allow-headers"]).toContain("Authorization");
    const reply = await ask({ ...alice, ...origin });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      "access-control-allow-origin": "https://app.example.com",
      "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
      vary: "Origin",
    });
    // What it is refused for is readable too.
    expect((await ask(origin)).headers["access-control-allow-origin"]).toBe("https://app.example.com");
  });

  it.each(["https://evil.example", "http://localhost:6274"])("of %s reads nothing", async (Origin) => {
    const asked = await ask({ Origin, ...preflight }, { method: "OPTIONS", body: "" });
    expect(asked.status).toBeGreaterThanOrEqual(400);
    expect(Object.keys(asked.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("without a token", () => {
  it("/healthz says that the server is up, by whatever name it is asked, and nothing else", async () => {
    const reply = await ask({ Host: "10.0.0.7:3333" }, { path: "/healthz", method: "GET", body: "" });
    expect(reply).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect((await ask({}, { path: "/healthz" })).status).toBe(405);
  });
});

describe("limits", () => {
  it("on a user leave others alone, and tell how long to wait", async () => {
    const config = configSchema.parse({ http: { requestsPerMinute: 3 }, provider: "@sandkit/provider-nowhere" });
    const slow = await serveHttp({ config, token: ["alice:first-secret", "alice:second-secret", "bob:third-secret"] });
    try {
      const by = (token: string) =>
        send(slow.url, { ...jsonRpc, Authorization: `Bearer ${token}` }, { body: listTools });
      for (const token of ["first-secret", "second-secret", "first-secret"]) expect((await by(token)).status).toBe(200);
      const refused = await by("second-secret");
      expect(refused).toMatchObject({ status: 429, body: expect.stringMatching(/too many requests: wait \d+ s/) });
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      expect((await by("third-secret")).status).toBe(200);
    } finally {
      await slow.close();
    }
  });

  it("on guessing do not keep out who has a token", async () => {
    const replies = await Promise.all(
      Array.from({ length: 70 }, (_, guess) => ask({ Authorization: `Bearer ${guess}` })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect((await ask(alice)).status).toBe(200);
  });
});
