import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CryptoKey,
  exportJWK,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  importPKCS8,
  type JWTPayload,
  SignJWT,
} from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { jsonRpc, listTools, send } from "./support/send.js";

/** The public half of an authorization server: its metadata and its keys, as anyone may read them. */
let issuer: Server;
let issuerUrl = "";
let signing: CryptoKey;
let publicKeyText = "";
let stranger: CryptoKey;
let server: HttpServer;
let down = false;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256", { extractable: true });
  signing = await importPKCS8(await exportPKCS8(pair.privateKey), "ES256");
  publicKeyText = await exportSPKI(pair.publicKey);
  stranger = (await generateKeyPair("ES256")).privateKey;
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256", use: "sig" }] };
  issuer = createServer((request, response) => {
    const documents: Record<string, unknown> = {
      "/.well-known/openid-configuration": { issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` },
      "/keys": keys,
    };
    const document = down ? undefined : documents[request.url ?? ""];
    response.writeHead(document === undefined ? 404 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  server = await start();
});
afterAll(async () => {
  await server.close();
  await new Promise((resolve) => issuer.close(resolve));
});

const start = (oauth: Record<string, unknown> = {}, token?: string) =>
  serveHttp({
    token,
    config: configSchema.parse({
      provider: "@sandkit/provider-nowhere",
      http: {
        publicUrl: "https://sandbox.example.com/mcp",
        oauth: { issuer: issuerUrl, scopes: ["sandbox:run"], ...oauth },
      },
    }),
  });

const good = (): JWTPayload => ({
  iss: issuerUrl,
  aud: "https://sandbox.example.com/mcp",
  sub: "user-1",
  scope: "openid sandbox:run",
  exp: Math.floor(Date.now() / 1000) + 300,
});

const sign = (claims: JWTPayload, key: CryptoKey | Uint8Array = signing, header = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "one", ...header }).sign(key);

const ask = (token?: string, url = server.url) =>
  send(url, { ...jsonRpc, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) }, { body: listTools });

const metadataUrl = "https://sandbox.example.com/.well-known/oauth-protected-resource/mcp";

describe("a client of an authorization server", () => {
  it("is told where to get a token, gets in with it, and is alone the user that it names", async () => {
    const challenged = await ask();
    expect(challenged.status).toBe(401);
    expect(challenged.headers["www-authenticate"]).toBe(
      `Bearer resource_metadata="${metadataUrl}", scope="sandbox:run"`,
    );
    for (const path of [new URL(metadataUrl).pathname, "/.well-known/oauth-protected-resource"]) {
      const metadata = await send(server.url, {}, { path, method: "GET" });
      expect(JSON.parse(metadata.body)).toEqual({
        resource: "https://sandbox.example.com/mcp",
        authorization_servers: [issuerUrl],
        bearer_methods_supported: ["header"],
        scopes_supported: ["sandbox:run"],
        resource_name: "Sandkit",
      });
    }
    expect(await ask(await sign(good()))).toMatchObject({ status: 200, body: expect.stringContaining("run_code") });
    expect((await ask(await sign({ ...good(), aud: ["other", "https://sandbox.example.com/mcp"] }))).status).toBe(200);
    expect((await ask(await sign({ ...good(), scope: undefined, scp: ["sandbox:run"] }))).status).toBe(200);
  });

  it.each<[string, () => Promise<string> | string]>([
    ["for another server", () => sign({ ...good(), aud: "https://other.example.com/mcp" })],
    ["for none", () => sign({ ...good(), aud: undefined })],
    ["of another issuer", () => sign({ ...good(), iss: "https://evil.example" })],
    ["that is over", () => sign({ ...good(), exp: Math.floor(Date.now() / 1000) - 60 })],
    ["without end", () => sign({ ...good(), exp: undefined })],
    ["that has not begun", () => sign({ ...good(), nbf: Math.floor(Date.now() / 1000) + 120 })],
    ["of nobody", () => sign({ ...good(), sub: undefined })],
    ["signed by a stranger", () => sign(good(), stranger)],
    [
      "signed with the public key as a secret",
      () => sign(good(), new TextEncoder().encode(publicKeyText), { alg: "HS256" }),
    ],
    ["signed by a key that the issuer does not have", () => sign(good(), stranger, { kid: "two" })],
    ["that brings its own key", () => sign(good(), stranger, { jku: "https://evil.example/keys", kid: undefined })],
    ["without signature", async () => `${btoa('{"alg":"none"}')}.${(await sign(good())).split(".")[1]}.`],
    ["that is cut", async () => (await sign(good())).slice(0, -8)],
    ["that is none", () => "token"],
  ])("with a token %s is refused", async (_, token) => {
    const reply = await ask(await token());
    expect(reply.status, reply.body).toBe(401);
    expect(reply.headers["www-authenticate"]).toMatch(/^Bearer resource_metadata=.*error="invalid_token"/);
    expect(reply.body).not.toContain("run_code");
  });

  it("with too few scopes is told which are missing", async () => {
    const reply = await ask(await sign({ ...good(), scope: "openid" }));
    expect(reply.status).toBe(403);
    expect(reply.headers["www-authenticate"]).toMatch(/scope="sandbox:run", error="insufficient_scope"/);
  });

  it("comes in beside holders of a token of the server", async () => {
    const both = await start({}, "machine:static-secret");
    try {
      expect((await ask("static-secret", both.url)).status).toBe(200);
      expect((await ask(await sign(good()), both.url)).status).toBe(200);
      expect((await ask("guess", both.url)).status).toBe(401);
    } finally {
      await both.close();
    }
  });

  it("waits, rather than being refused, while the issuer's keys cannot be had", async () => {
    down = true;
    const other = await start();
    try {
      const token = await sign(good());
      expect(await ask(token, other.url)).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
      down = false;
      expect((await ask(token, other.url)).status).toBe(200);
    } finally {
      down = false;
      await other.close();
    }
  });
});

describe("the config", () => {
  it.each([
    [{ oauth: { issuer: "http://issuer.example" } }, /must be an https/],
    [{ oauth: {} }, /issuer/],
    [{ publicUrl: "sandbox.example.com" }, /https/],
    [{ allowedOrigins: ["https://app.example.com/page"] }, /an origin such as/],
    [{ allowedOrigins: ["*"] }, /an origin such as/],
  ])("with %j is refused", (http, message) => {
    expect(() => configSchema.parse({ http })).toThrow(message);
  });

  it("opens no public address without the name that tokens are made for", async () => {
    const config = configSchema.parse({ http: { oauth: { issuer: issuerUrl } } });
    await expect(serveHttp({ config, host: "0.0.0.0" })).rejects.toThrow(/http\.publicUrl/);
  });
});
