import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { WebServer } from "./web-server.js";

const server = new WebServer();
let sandbox: Sandbox;
beforeAll(async () => {
  await server.start();
  sandbox = await createSandbox(wasm(), { network: { allow: [server.host] } });
  await sandbox.runCode("import json, urllib.request, urllib.error, http.client, hashlib");
});
afterAll(async () => {
  await sandbox.destroy();
  await server.stop();
});
afterEach(() => {
  server.seen.length = 0;
});

async function run(code: string, timeoutMs = 20_000): Promise<unknown> {
  const cell = await sandbox.runCode(code.replaceAll("@URL", server.url).replaceAll("@HOST", server.host), {
    timeoutMs,
  });
  expect(cell.error?.traceback).toBeUndefined();
  return cell.value;
}

describe("urllib", () => {
  it("gets a page with its status, headers and body", async () => {
    const value = await run(`
with urllib.request.urlopen("@URL/hello") as page:
    found = [page.status, page.reason, page.headers["content-type"], page.read().decode(), page.url]
found`);
    expect(value).toEqual([200, "OK", "text/plain", "hello", `${server.url}/hello`]);
  });

  it("sends headers and a body, and what the host makes of both arrives as it is", async () => {
    const value = await run(`
request = urllib.request.Request("@URL/echo", data=b"\\x00\\xff" * 3, headers={"X-Own": "grüße", "User-Agent": "mine"}, method="PUT")
json.load(urllib.request.urlopen(request))`);
    expect(value).toMatchObject({ method: "PUT", size: 6 });
    const [seen] = server.seen;
    expect(seen?.headers).toMatchObject({ "user-agent": "mine", host: server.host, "content-length": "6" });
    expect(seen?.body).toEqual(Buffer.from([0, 255, 0, 255, 0, 255]));
  });

  it("raises HTTPError with the answer's own headers and body", async () => {
    const value = await run(`
try: urllib.request.urlopen("@URL/nothing")
except urllib.error.HTTPError as error: found = [error.code, error.headers["x-why"], error.read().decode()]
found`);
    expect(value).toEqual([404, "missing", "no such page"]);
  });

  it("follows redirects to hosts of the list, and fails at one that is not", async () => {
    expect(await run(`urllib.request.urlopen("@URL/redirect?/hello").read().decode()`)).toBe("hello");
    const value = await run(`
try: urllib.request.urlopen("@URL/redirect?http://elsewhere.example/")
except urllib.error.URLError as error: found = [type(error.reason).__name__, str(error.reason)]
found`);
    expect(value).toEqual(["ConnectionError", expect.stringContaining('network: { allow: ["elsewhere.example"] }')]);
  });

  it("reads a body in pieces, a chunked one, an empty one, and none of HEAD", async () => {
    const value = await run(`
page = urllib.request.urlopen("@URL/bytes?1000000")
pieces = []
while piece := page.read(70000): pieces.append(piece)
whole = b"".join(pieces)
head = urllib.request.urlopen(urllib.request.Request("@URL/bytes?123", method="HEAD"))
[len(pieces), len(whole), whole == bytes(i % 251 for i in range(1000000)),
 urllib.request.urlopen("@URL/chunked").read().decode(), urllib.request.urlopen("@URL/status?204").read().decode(),
 head.headers["content-length"], head.read().decode()]`);
    expect(value).toEqual([15, 1_000_000, true, "one two three", "", "123", ""]);
  });

  it("sends 10 MiB and a body of unknown length whole", async () => {
    const value = await run(`
data = bytes(range(256)) * 40960
first = json.load(urllib.request.urlopen("@URL/echo", data=data))
request = urllib.request.Request("@URL/echo", data=(bytes([n]) * 5000 for n in range(100)), method="POST")
second = json.load(urllib.request.urlopen(request))
[first["size"], first["sha256"] == hashlib.sha256(data).hexdigest(), second["size"],
 second["sha256"] == hashlib.sha256(b"".join(bytes([n]) * 5000 for n in range(100))).hexdigest()]`);
    expect(value).toEqual([10_485_760, true, 500_000, true]);
  });

  it("gives the bytes of a content encoding as they are", async () => {
    const value = await run(`
import gzip
page = urllib.request.urlopen("@URL/gzip")
[page.headers["content-encoding"], len(gzip.decompress(page.read()))]`);
    expect(value).toEqual(["gzip", 6000]);
  });

  it("keeps several headers of one name apart", async () => {
    expect(await run(`urllib.request.urlopen("@URL/two").headers.get_all("set-cookie")`)).toEqual([
      "a=1; Path=/",
      "b=2",
    ]);
  });

  it("runs in asyncio.to_thread", async () => {
    const value = await run(`
import asyncio
pages = await asyncio.gather(*(asyncio.to_thread(urllib.request.urlopen, "@URL/hello") for _ in range(3)))
[page.read().decode() for page in pages]`);
    expect(value).toEqual(["hello", "hello", "hello"]);
  });
});

describe("http.client", () => {
  it("uses one connection object for several requests", async () => {
    const value = await run(`
connection = http.client.HTTPConnection("@HOST")
found = []
for path in ("/hello", "/json"):
    connection.request("GET", path)
    found.append(connection.getresponse().read().decode())
found`);
    expect(value).toEqual(["hello", '{"answer":42}']);
  });

  it("refuses tunnels and sockets by name", async () => {
    const value = await run(`
import socket
found = []
def attempt(action):
    try: action()
    except Exception as error: found.append(f"{type(error).__name__}: {error}")
connection = http.client.HTTPSConnection("@HOST")
connection.set_tunnel("elsewhere.example")
attempt(lambda: connection.request("GET", "/"))
host, port = "@HOST".split(":")
attempt(lambda: socket.create_connection((host, int(port))))
found`);
    expect(value).toEqual([
      expect.stringMatching(/^ConnectionError: a sandbox has no proxies/),
      expect.stringMatching(/^OSError: .*a sandbox has no sockets: HTTP and HTTPS go through urllib/),
    ]);
  });
});

describe("a request that takes its time", () => {
  it("ends by its own timeout, before the answer and within it", async () => {
    server.on("/never", () => undefined);
    server.on("/half", (_request, response) => void response.writeHead(200, { "content-length": "10" }).write("12345"));
    const value = await run(`
found = []
try: urllib.request.urlopen("@URL/never", timeout=0.3)
except TimeoutError as error: found.append(str(error))
page = urllib.request.urlopen("@URL/half", timeout=0.3)
try: page.read()
except TimeoutError as error: found.append(str(error))
found`);
    expect(value).toEqual(["timed out", "timed out"]);
  });

  it("is interrupted with the state kept, and its connection is closed", async () => {
    server.on("/never", () => undefined);
    await run("kept = 7");
    const cell = await sandbox.runCode(`urllib.request.urlopen("${server.url}/never")`, { timeoutMs: 500 });
    expect([cell.reason, cell.stateLost]).toEqual(["timeout", false]);
    expect(await run("kept")).toBe(7);
    await expect.poll(() => server.open).toBe(0);
  });

  it("whose connection breaks off is an error, not an end", async () => {
    server.on("/broken", (_request, response) => {
      response.writeHead(200, { "content-length": "10" }).write("12345");
      setTimeout(() => response.destroy(), 50);
    });
    const value = await run(`
try: urllib.request.urlopen("@URL/broken").read()
except (ConnectionError, http.client.IncompleteRead) as error: found = type(error).__name__
found`);
    expect(value).toBe("ConnectionResetError");
  });
});
