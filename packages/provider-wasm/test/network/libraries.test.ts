import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { WebServer } from "./web-server.js";

const wheelDir = await mkdtemp(join(tmpdir(), "sandkit-http-wheels-"));
const wanted = ["requests", "httpx", "urllib3>=2"];

/** Whether this machine's pip could fetch them, in plain Python: by its own settings, from wherever these say. */
async function fetched(): Promise<boolean> {
  const plain = ["--platform", "any", "--implementation", "py", "--abi", "none"];
  const args = ["-m", "pip", "download", "--quiet", "--only-binary=:all:", ...plain, "--dest", wheelDir, ...wanted];
  try {
    await promisify(execFile)("python3", args, { timeout: 60_000 });
    return true;
  } catch (error) {
    console.warn(`libraries for HTTP are not tested, because pip cannot fetch them here: ${error}`);
    return false;
  }
}

const isThere = await fetched();
const server = new WebServer();
let sandbox: Sandbox;
beforeAll(async () => {
  if (!isThere) return;
  await server.start();
  const network = { allow: [server.host] };
  sandbox = await createSandbox(wasm({ packages: { wheelDir } }), { packages: ["requests", "httpx"], network });
}, 60_000);
afterAll(async () => {
  await rm(wheelDir, { recursive: true });
  if (!isThere) return;
  await sandbox.destroy();
  await server.stop();
});

async function run(code: string): Promise<unknown> {
  const cell = await sandbox.runCode(code.replaceAll("@URL", server.url), { timeoutMs: 40_000 });
  expect(cell.error?.traceback).toBeUndefined();
  return cell.value;
}

describe.skipIf(!isThere)("requests, and urllib3 beneath it", () => {
  it("get, post, stream, redirect and decode", async () => {
    const value = await run(`
import requests
page = requests.get("@URL/echo", params={"q": "a b"}, headers={"X-Own": "1"})
posted = requests.post("@URL/echo", json={"a": 1}).json()
streamed = requests.post("@URL/echo", data=(b"x" * 1000 for _ in range(5))).json()
pieces = [len(piece) for piece in requests.get("@URL/bytes?100000", stream=True).iter_content(30000)]
session = requests.Session()
session.get("@URL/two")
[page.status_code, page.json()["headers"]["x-own"], posted["text"], streamed["size"], pieces,
 requests.get("@URL/redirect?/hello").text, len(requests.get("@URL/gzip").text), requests.get("@URL/nothing").status_code,
 session.get("@URL/echo").json()["headers"].get("cookie")]`);
    expect(value).toEqual([200, "1", '{"a": 1}', 5000, [30000, 30000, 30000, 10000], "hello", 6000, 404, "a=1; b=2"]);
    expect(server.seen.some(({ path }) => path === "/echo?q=a+b")).toBe(true);
  }, 60_000);

  it("raise their own errors, which name host and policy", async () => {
    server.on("/never", () => undefined);
    const value = await run(`
import requests, urllib3
found = []
for action in (lambda: requests.get("http://example.org/"), lambda: requests.get("@URL/never", timeout=0.3)):
    try: action()
    except requests.RequestException as error: found.append([type(error).__name__, "allow-list" in str(error)])
found + [urllib3.request("GET", "@URL/hello").data.decode()]`);
    expect(value).toEqual([["ConnectionError", true], ["ReadTimeout", false], "hello"]);
  }, 60_000);
});

describe.skipIf(!isThere)("httpx", () => {
  it("gets, posts and streams, by both of its clients", async () => {
    const value = await run(`
import httpx
page = httpx.get("@URL/echo", params={"a": 1})
posted = httpx.post("@URL/echo", json={"a": 1}).json()
with httpx.stream("GET", "@URL/bytes?100000") as stream: size = sum(len(piece) for piece in stream.iter_bytes())
async with httpx.AsyncClient(follow_redirects=True) as client:
    followed = await client.get("@URL/redirect?/hello")
    sent = (await client.post("@URL/echo", content=b"abc")).json()
[page.status_code, posted["text"], size, followed.text, sent["size"], len(httpx.get("@URL/gzip").text)]`);
    expect(value).toEqual([200, '{"a":1}', 100_000, "hello", 3, 6000]);
  }, 60_000);

  it("raises its own errors", async () => {
    server.on("/never", () => undefined);
    const value = await run(`
import httpx
found = []
for action in (
    lambda: httpx.get("http://example.org/"), lambda: httpx.get("@URL/never", timeout=0.3),
    lambda: httpx.Client(proxy="http://proxy.example"),
):
    try: action()
    except (httpx.HTTPError, ValueError) as error: found.append([type(error).__name__, str(error)])
found`);
    expect(value).toEqual([
      ["ConnectError", expect.stringContaining("allow-list")],
      ["ReadTimeout", "timed out"],
      ["ValueError", expect.stringContaining("no proxies")],
    ]);
  }, 60_000);
});
