import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { WebServer } from "./web-server.js";

const server = new WebServer();
const sandboxes: Sandbox[] = [];
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(async () => {
  await Promise.all(sandboxes.splice(0).map((sandbox) => sandbox.destroy()));
  server.connections = 0;
});

async function withNetwork(...allow: readonly string[]): Promise<Sandbox> {
  const sandbox = await createSandbox(wasm(), { network: { allow } });
  sandboxes.push(sandbox);
  return sandbox;
}

const filled = (code: string) => code.replaceAll("@URL", server.url);

/** Each asks for one address and prints what came, or why not. */
const clients: Readonly<Record<string, (url: string) => readonly string[]>> = {
  python: (url) => [
    "python3",
    "-c",
    "import sys, urllib.request\ntry: print(urllib.request.urlopen(sys.argv[1]).read().decode())\nexcept Exception as error: print(error)",
    url,
  ],
  javascript: (url) => [
    "node",
    "-e",
    "fetch(process.argv[1]).then((page) => page.text()).then(console.log, (error) => console.log(error.message))",
    url,
  ],
  shell: (url) => ["sh", "-c", 'curl -sSL "$0" 2>&1', url],
};

describe.each(Object.entries(clients))("from %s", (_name, client) => {
  it("a listed host answers, and no redirect leads to one that is not listed, nor to the metadata of a cloud", async () => {
    const sandbox = await withNetwork(server.host);
    const ask = async (url: string) => (await sandbox.exec(client(url), { timeoutMs: 20_000 })).stdout.text.trim();
    expect(await ask(`${server.url}/hello`)).toBe("hello");
    for (const target of ["http://169.254.169.254/latest/meta-data/", "http://localhost/", "https://example.org/"]) {
      const host = new URL(target).hostname;
      expect(await ask(`${server.url}/redirect?${encodeURIComponent(target)}`)).toContain(
        `${host} is not in this sandbox's allow-list`,
      );
    }
    expect(await ask(`${server.url}/redirect?file:///etc/passwd`)).not.toContain("root:");
  }, 60_000);

  it("without a network nothing is asked, and it is said how to have one", async () => {
    const sandbox = await createSandbox(wasm(), {});
    sandboxes.push(sandbox);
    const result = await sandbox.exec(client(`${server.url}/hello`), { timeoutMs: 20_000 });
    expect(result.stdout.text).toContain(
      'this sandbox has no network: create it with network: { allow: ["example.com"] }',
    );
    expect(server.connections).toBe(0);
  });

  it("a request is over when its program is killed, and when its sandbox is destroyed", async () => {
    server.on("/never", () => undefined);
    const sandbox = await withNetwork(server.host);
    const killed = await sandbox.spawn(client(`${server.url}/never`), { stdin: "" });
    await expect.poll(() => server.open, { timeout: 10_000 }).toBe(1);
    await killed.kill("SIGKILL");
    await expect.poll(() => server.open).toBe(0);
    await sandbox.spawn(client(`${server.url}/never`), { stdin: "" });
    await expect.poll(() => server.open, { timeout: 10_000 }).toBe(1);
    await sandbox.destroy();
    await expect.poll(() => server.open).toBe(0);
  }, 60_000);
});

describe("many at once", () => {
  it("50 requests of one cell, and some of every kind beside them", async () => {
    const sandbox = await withNetwork(server.host);
    const javascript = filled(`
const texts = await Promise.all(Array.from({ length: 50 }, async () => (await fetch("@URL/hello")).text()));
texts.filter((text) => text === "hello").length`);
    const python = filled(`
import urllib.request
sum(urllib.request.urlopen("@URL/hello").read() == b"hello" for _ in range(50))`);
    const cells = await Promise.all([
      sandbox.runCode(javascript, { language: "javascript", timeoutMs: 30_000 }),
      sandbox.runCode(python, { timeoutMs: 30_000 }),
    ]);
    const shell = await sandbox.exec(`for i in 1 2 3; do curl -s ${server.url}/hello; done`);
    expect([cells.map(({ value }) => value), shell.stdout.text]).toEqual([[50, 50], "hellohellohello"]);
  }, 60_000);

  it("programs that other programs start have the same network", async () => {
    const sandbox = await withNetwork(server.host);
    const inner = `import urllib.request; print(urllib.request.urlopen("${server.url}/hello").read().decode())`;
    const fromShell = await sandbox.exec(`python3 -c '${inner}' | rev`, { timeoutMs: 20_000 });
    expect(fromShell.stdout.text.trim()).toBe("olleh");
    const fromPython = await sandbox.runCode(
      `import subprocess\nsubprocess.run(["curl", "-s", "${server.url}/hello"], capture_output=True, text=True).stdout`,
      { timeoutMs: 20_000 },
    );
    expect([fromPython.error?.traceback, fromPython.value]).toEqual([undefined, "hello"]);
  });

  it("each sandbox has its own list", async () => {
    const [open, other] = await Promise.all([withNetwork(server.host), withNetwork("example.com")]);
    const code = filled(`import urllib.request\nurllib.request.urlopen("@URL/hello").status`);
    expect((await open.runCode(code)).value).toBe(200);
    expect((await other.runCode(code)).error?.message).toContain("is not in this sandbox's allow-list");
  });
});

describe("what an attacker with the driver's own calls at hand can do", () => {
  it("ask nobody that is not listed, by no trick of the message", async () => {
    const sandbox = await withNetwork("example.com");
    const cell = await sandbox.runCode(
      filled(`
import json
import _sandkit.host as host
found = []
requests = [
    {"method": "GET", "url": "@URL/hello", "headers": [], "bodyBytes": None, "decode": False},
    {"method": "GET", "url": ["@URL/hello"], "headers": [], "bodyBytes": None, "decode": False},
    {"method": "GET", "url": "http://example.com@127.0.0.1:1/", "headers": [], "bodyBytes": None},
    {"url": "@URL/hello", "reach": "itself", "allow": ["*"]},
    None, 5, "x", [],
]
for request in requests:
    opened = json.loads(host._call("http.open", json.dumps([request])))
    while "request" in opened:
        news = json.loads(host._call("http.take", json.dumps([opened["request"], 5000, 0])))
        if not isinstance(news, dict) or "head" in news or "error" in news:
            found.append(news if not isinstance(news, dict) else news.get("error", {}).get("code", "reached"))
            break
found`),
      { timeoutMs: 30_000 },
    );
    expect(cell.error?.traceback).toBeUndefined();
    expect(cell.value).toHaveLength(8);
    expect((cell.value as string[]).every((code) => ["EACCES", "EINVAL", "EPROTO"].includes(code))).toBe(true);
    expect(server.connections).toBe(0);
  });

  it("end no other interpreter by calls that make no sense", async () => {
    const sandbox = await withNetwork(server.host);
    await sandbox.files.write("kept", "kept");
    for (const call of [
      "'http.take', '[77, 1, 1]'",
      "'http.wait', '[5]'",
      "'http.constructor', '[]'",
      "'http.open', 'null'",
    ]) {
      await sandbox.runCode(`import _sandkit.host as host\nhost._call(${call})`, { timeoutMs: 10_000 });
      expect(await sandbox.files.readText("kept")).toBe("kept");
    }
    expect((await sandbox.runCode("1 + 1")).value).toBe(2);
  }, 60_000);

  it("open only so many requests at one time", async () => {
    server.on("/never", () => undefined);
    const sandbox = await withNetwork(server.host);
    const cell = await sandbox.runCode(
      filled(`
import json
import _sandkit.host as host
request = {"method": "GET", "url": "@URL/never", "headers": [], "bodyBytes": None, "decode": False}
opened = [json.loads(host._call("http.open", json.dumps([request]))) for _ in range(100)]
[sum("request" in one for one in opened), opened[-1]["error"]["code"]]`),
    );
    expect(cell.value).toEqual([64, "EBUSY"]);
    expect(server.open).toBeLessThanOrEqual(8);
  });
});

describe("options", () => {
  const creating = (network: unknown) => createSandbox(wasm(), { network } as never);

  it("an entry that is none is INVALID, by its name and before anything is created", async () => {
    await expect(creating({ allow: ["https://example.com"] })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining('"https://example.com"'),
    });
  });

  it("the whole network is UNSUPPORTED", async () => {
    await expect(creating("full")).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  it("an empty list permits nothing", async () => {
    const sandbox = await withNetwork();
    const result = await sandbox.exec(`curl -sS ${server.url}`);
    expect([result.exitCode, result.stderr.text]).toEqual([7, expect.stringContaining("allow-list")]);
  });
});
