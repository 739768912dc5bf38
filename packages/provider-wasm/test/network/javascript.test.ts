import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { WebServer } from "./web-server.js";

const server = new WebServer();
let sandbox: Sandbox;
beforeAll(async () => {
  await server.start();
  sandbox = await createSandbox(wasm(), { network: { allow: [server.host] } });
});
afterAll(async () => {
  await sandbox.destroy();
  await server.stop();
});

const filled = (code: string) => code.replaceAll("@URL", server.url);

async function run(code: string): Promise<unknown> {
  const cell = await sandbox.runCode(filled(code), { language: "javascript", timeoutMs: 20_000 });
  expect(cell.error?.traceback).toBeUndefined();
  return cell.value;
}

async function node(code: string): Promise<string> {
  const { stdout, stderr } = await sandbox.exec(["node", "-e", filled(code)], { timeoutMs: 20_000 });
  return stdout.text + stderr.text;
}

describe("fetch", () => {
  it("gives status, headers and body in each form", async () => {
    const value = await run(`
const page = await fetch("@URL/json");
const [text, bytes] = [await (await fetch("@URL/hello")).text(), await (await fetch("@URL/hello")).arrayBuffer()];
[page.status, page.statusText, page.ok, page.headers.get("Content-Type"), page.url, await page.json(), text, bytes.byteLength]`);
    expect(value).toEqual([200, "OK", true, "application/json", `${server.url}/json`, { answer: 42 }, "hello", 5]);
  });

  it("sends methods, headers and bodies of every kind", async () => {
    const value = await run(`
const echo = async (init) => (await fetch("@URL/echo", init)).json();
const [text, bytes, form] = await Promise.all([
  echo({ method: "POST", body: "grüße", headers: { "X-Own": "a" } }),
  echo({ method: "put", body: new Uint8Array([0, 255, 128]) }),
  echo({ method: "POST", body: new URLSearchParams({ q: "a b&c" }) }),
]);
[text.method, text.text, text.headers["content-type"], text.headers["x-own"], bytes.method, bytes.size, form.text, form.headers["content-type"]]`);
    expect(value).toEqual([
      "POST",
      "grüße",
      "text/plain;charset=UTF-8",
      "a",
      "PUT",
      3,
      "q=a+b%26c",
      "application/x-www-form-urlencoded;charset=UTF-8",
    ]);
  });

  it("takes the content encoding off", async () => {
    expect(await run(`(await (await fetch("@URL/gzip")).text()).length`)).toBe(6000);
  });

  it("follows redirects, or gives them, or fails at them", async () => {
    const value = await run(`
const followed = await fetch("@URL/redirect?/hello");
const posted = await (await fetch("@URL/redirect?/echo", { method: "POST", body: "x" })).json();
const kept = await (await fetch("@URL/redirect307?/echo", { method: "POST", body: "x" })).json();
const manual = await fetch("@URL/redirect?/hello", { redirect: "manual" });
const failed = await fetch("@URL/redirect?/hello", { redirect: "error" }).catch((error) => error.constructor.name);
[followed.redirected, followed.url, posted.method, kept.method, kept.size, manual.status, manual.headers.get("location"), failed]`);
    expect(value).toEqual([true, `${server.url}/hello`, "GET", "POST", 1, 302, "/hello", "TypeError"]);
  });

  it("rejects with a TypeError that names host and policy", async () => {
    const value = await run(`
const error = await fetch("https://api.example.com:8443/x").catch((error) => error);
[error.constructor.name, error.message, error.cause.code]`);
    expect(value).toEqual([
      "TypeError",
      'fetch failed: api.example.com:8443 is not in this sandbox\'s allow-list: create it with network: { allow: ["api.example.com:8443"] }',
      "EACCES",
    ]);
  });

  it("does several at a time, while timers run", async () => {
    server.on("/late", (_request, response) => void setTimeout(() => response.end("late"), 200));
    const value = await run(`
let ticks = 0;
const timer = setInterval(() => { ticks += 1; }, 20);
const pages = await Promise.all(Array.from({ length: 5 }, async () => (await fetch("@URL/late")).text()));
clearInterval(timer);
[pages, ticks > 2]`);
    expect(value).toEqual([["late", "late", "late", "late", "late"], true]);
    expect(server.mostOpen).toBeGreaterThan(1);
  });

  it("goes on between cells", async () => {
    await run(
      `globalThis.answer = ""; fetch("@URL/late").then((page) => page.text()).then((text) => { globalThis.answer = text; }); 1`,
    );
    await expect.poll(() => run("globalThis.answer"), { timeout: 10_000 }).toBe("late");
  });

  it("is aborted by a signal, before the answer and within it", async () => {
    server.on("/never", () => undefined);
    server.on("/half", (_request, response) => void response.writeHead(200, { "content-length": "10" }).write("12345"));
    const value = await run(`
const found = [];
for (const path of ["/never", "/half"]) {
  try { await (await fetch("@URL" + path, { signal: AbortSignal.timeout(200) })).text(); }
  catch (error) { found.push(error.name); }
}
const controller = new AbortController();
setTimeout(() => controller.abort(), 50);
found.push(await fetch("@URL/never", { signal: controller.signal }).catch((error) => error.name));
found`);
    expect(value).toEqual(["TimeoutError", "TimeoutError", "AbortError"]);
    await expect.poll(() => server.open).toBe(0);
  });

  it("is interrupted with the state kept", async () => {
    server.on("/never", () => undefined);
    await run("globalThis.kept = 7");
    const cell = await sandbox.runCode(`await fetch("${server.url}/never")`, {
      language: "javascript",
      timeoutMs: 500,
    });
    expect([cell.reason, cell.stateLost]).toEqual(["timeout", false]);
    expect(await run("kept")).toBe(7);
  });

  it("streams: by a reader, by for await, and left off", async () => {
    const value = await run(`
const reader = (await fetch("@URL/bytes?300000")).body.getReader();
let size = 0;
for (let piece = await reader.read(); !piece.done; piece = await reader.read()) size += piece.value.length;
let again = 0;
for await (const piece of (await fetch("@URL/bytes?300000")).body) again += piece.length;
const left = await fetch("@URL/bytes?3000000");
await left.body.cancel();
[size, again]`);
    expect(value).toEqual([300_000, 300_000]);
    await expect.poll(() => server.open).toBe(0);
  });

  it("answers that nobody reads do not stand in the way of others", async () => {
    const value = await run(`
for (let n = 0; n < 300; n += 1) await fetch("@URL/hello");
(await (await fetch("@URL/hello")).text())`);
    expect(value).toBe("hello");
  });

  it("takes what HEAD and 204 bring, which is no body", async () => {
    const value = await run(`
const [head, none] = [await fetch("@URL/bytes?5", { method: "HEAD" }), await fetch("@URL/status?204")];
[head.headers.get("content-length"), await head.text(), none.status, await none.text()]`);
    expect(value).toEqual(["5", "", 204, ""]);
  });
});

describe("programs of node", () => {
  it("wait for what they fetch, and end when it is there", async () => {
    expect(await node(`fetch("@URL/late").then((page) => page.text()).then(console.log)`)).toBe("late\n");
  });

  it("end without reading an answer", async () => {
    server.on("/never", () => undefined);
    expect(await node(`fetch("@URL/bytes?3000000").then((page) => console.log(page.status))`)).toBe("200\n");
  });

  it("are told that there is no node:http", async () => {
    expect(await node(`require("node:https").get("@URL")`)).toContain("HTTP goes through fetch");
    expect(await node("console.log(fetch)")).toBe("[AsyncFunction: fetch]\n");
  });
});

describe("URL", () => {
  it("has its parts, is changed by them, and by its searchParams", async () => {
    const value = await run(`
const url = new URL("../b?x=1#y", "https://User:pw@Example.com:8080/a/c/d");
const parts = [url.href, url.origin, url.host, url.pathname, url.search, url.hash, url.username, String(url)];
url.port = "";
url.searchParams.append("q", "a b~é");
url.pathname = "/new path";
const { URL: same } = require("url");
[parts, url.href, JSON.stringify({ url }), URL.canParse("nope"), same === URL, (() => { try { new URL("nope") } catch (error) { return error.code } })()]`);
    expect(value).toEqual([
      [
        "https://User:pw@example.com:8080/a/b?x=1#y",
        "https://example.com:8080",
        "example.com:8080",
        "/a/b",
        "?x=1",
        "#y",
        "User",
        "https://User:pw@example.com:8080/a/b?x=1#y",
      ],
      "https://User:pw@example.com/new%20path?x=1&q=a+b%7E%C3%A9#y",
      '{"url":"https://User:pw@example.com/new%20path?x=1&q=a+b%7E%C3%A9#y"}',
      false,
      true,
      "ERR_INVALID_URL",
    ]);
  });

  it("searchParams are read, set and sorted", async () => {
    const value = await run(`
const params = new URLSearchParams("?a=1&b=%E2%82%AC+x&a=2&c=100%");
const read = [params.getAll("a"), params.get("b"), params.get("c"), params.has("d"), [...params].length];
params.set("a", "3"); params.delete("c"); params.sort();
[read, params.toString(), new URLSearchParams([["k", "v"]]).get("k"), new URLSearchParams({ n: 1 }).toString()]`);
    expect(value).toEqual([[["1", "2"], "€ x", "100%", false, 4], "a=3&b=%E2%82%AC+x", "v", "n=1"]);
  });
});
