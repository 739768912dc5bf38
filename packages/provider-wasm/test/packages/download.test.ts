import { setMaxListeners } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { wasm } from "../../src/index.js";
import { Budget } from "../../src/packages/budget.js";
import { Downloader } from "../../src/packages/download.js";
import { indexAddress } from "../../src/packages/index-address.js";
import { type InstallRequest, PackageInstaller } from "../../src/packages/installer.js";
import type { PackagesOptions } from "../../src/packages/options.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

let index: LocalIndex;
let cacheDir: string;

beforeEach(async () => {
  index = new LocalIndex();
  cacheDir = await mkdtemp(join(tmpdir(), "sandkit-download-"));
  await index.start();
});
afterEach(async () => {
  await index.stop();
  await rm(cacheDir, { recursive: true });
});

const installerOf = (options: PackagesOptions = {}) =>
  new PackageInstaller({ indexUrl: index.url, cacheDir: false, ...options }, {});

async function prepare(names: readonly string[], installer = installerOf(), more: Partial<InstallRequest> = {}) {
  const archives = await installer.prepare({ requirements: names, network: true, ...more });
  return archives.map(({ name, version }) => `${name}==${version}`);
}

describe("the address of the index", () => {
  it("is the public one, unless an option or the environment says otherwise", () => {
    expect(indexAddress({}, {})?.href).toBe("https://pypi.org/simple/");
    expect(indexAddress({}, { PIP_INDEX_URL: "" })?.href).toBe("https://pypi.org/simple/");
    expect(indexAddress({}, { PIP_INDEX_URL: "https://a.example/b" })?.href).toBe("https://a.example/b/");
    expect(indexAddress({ indexUrl: false }, { PIP_INDEX_URL: "https://a.example/b" })).toBeUndefined();
  });

  it.each(["nonsense", "http://a.example/", "file:///srv", "https://"])("is never %s", (address) => {
    expect(() => indexAddress({}, { PIP_INDEX_URL: address })).toThrow(/environment variable PIP_INDEX_URL is not/);
    expect(() => wasm({ packages: { indexUrl: address } })).toThrow(/options of wasm\(\).*indexUrl/s);
  });
});

describe("proxies of the environment", () => {
  it("are asked for hosts elsewhere, and not for this machine", async () => {
    index.add(makeWheel("leaf", "1.0"));
    const asked: (string | undefined)[] = [];
    const proxy = createServer((_, response) => response.writeHead(500).end());
    proxy.on("connect", (request, socket) => {
      asked.push(request.url);
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as AddressInfo;
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${port}`);
    vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${port}`);
    vi.stubEnv("NO_PROXY", "");
    try {
      expect(await prepare(["leaf"])).toEqual(["leaf==1.0"]);
      expect(asked).toEqual([]);
      await expect(prepare(["leaf"], installerOf({ indexUrl: "https://index.invalid/" }))).rejects.toMatchObject({
        code: "UNAVAILABLE",
      });
      expect(new Set(asked)).toEqual(new Set(["index.invalid:443"]));
    } finally {
      vi.unstubAllEnvs();
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    }
  });
});

describe("name and password of an index", () => {
  const expected = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  const guarded = (path: string, answer: (request: IncomingMessage, response: ServerResponse) => void) =>
    index.answer(path, (request, response) => {
      if (request.headers.authorization === expected) answer(request, response);
      else response.writeHead(401).end();
    });

  it("go with every request to its host, and are written nowhere", async () => {
    const wheel = makeWheel("secret", "1.0");
    const hash = `#sha256=${wheel.sha256}`;
    guarded("/simple/secret/", (_, response) => response.writeHead(302, { location: "/simple/moved/" }).end());
    guarded("/simple/moved/", (_, response) => {
      const { origin } = new URL(index.url);
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<a href="${origin}/files/${wheel.filename}${hash}">x</a>`);
    });
    guarded(`/files/${wheel.filename}`, (_, response) => response.end(wheel.bytes));
    const indexUrl = index.url.replace("//", "//me:p%40ss@");
    expect(await prepare(["secret"], installerOf({ indexUrl, cacheDir }))).toEqual(["secret==1.0"]);
    const names = await readdir(cacheDir);
    const kept = await Promise.all(names.map((name) => readFile(join(cacheDir, name), "latin1")));
    expect(names.some((name) => name.endsWith(".json"))).toBe(true);
    expect(kept.filter((text) => /p@ss|p%40ss|me:/.test(text))).toEqual([]);
    const again = installerOf({ indexUrl, cacheDir });
    await rm(join(cacheDir, `${wheel.sha256}.whl`));
    expect(await prepare(["secret"], again)).toEqual(["secret==1.0"]);
    await expect(prepare(["secret"])).rejects.toMatchObject({
      code: "AUTH",
      message: expect.stringMatching(/^package "secret": .*answered 401: check name and password in the address/),
    });
  });

  it("go to no other host, which may be in one's own network where that is said", async () => {
    const other = new LocalIndex();
    await other.start();
    try {
      const wheel = makeWheel("elsewhere", "1.0");
      const seen: unknown[] = [];
      other.answer("/files/x/elsewhere-1.0-py3-none-any.whl", (request, response) => {
        seen.push(request.headers.authorization);
        response.end(wheel.bytes);
      });
      const { host } = new URL(other.url);
      index.add(wheel, { url: `http://me:p%40ss@${host}/files/x/${wheel.filename}` });
      const indexUrl = index.url.replace("//", "//me:p%40ss@");
      await expect(prepare(["elsewhere"], installerOf({ indexUrl }))).rejects.toMatchObject({
        message: expect.stringContaining("name the host in packages.fileHosts"),
      });
      expect(await prepare(["elsewhere"], installerOf({ indexUrl, fileHosts: [other.url] }))).toHaveLength(1);
      const fileHosts = [other.url.replace("//", "//you:secret@")];
      expect(await prepare(["elsewhere"], installerOf({ indexUrl, fileHosts }))).toHaveLength(1);
      expect(seen).toEqual([undefined, `Basic ${Buffer.from("you:secret").toString("base64")}`]);
    } finally {
      await other.stop();
    }
  });
});

describe("a host that", () => {
  const wheel = makeWheel("slow", "1.0");
  const path = `/files/${wheel.filename}`;

  it("is slow may be so, while something comes", async () => {
    index.add(wheel);
    index.answer(path, async (_, response) => {
      const size = Math.ceil(wheel.bytes.length / 8);
      for (let at = 0; at < wheel.bytes.length; at += size) {
        response.write(wheel.bytes.subarray(at, at + size));
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      response.end();
    });
    expect(await prepare(["slow"], installerOf({ timeoutMs: 700 }))).toEqual(["slow==1.0"]);
  });

  it("falls silent is given up", async () => {
    index.add(wheel);
    index.answer(path, (_, response) => void response.write(wheel.bytes.subarray(0, 10)));
    await expect(prepare(["slow"], installerOf({ timeoutMs: 300 }))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/^package "slow": .*was silent for 300 ms/),
    });
  });

  it("wants to be left alone is, within bounds", async () => {
    index.add(wheel);
    const asked: number[] = [];
    index.answer(path, (_, response) => {
      asked.push(performance.now());
      if (asked.length === 1) response.writeHead(429, { "retry-after": "1" }).end("later");
      else response.end(wheel.bytes);
    });
    expect(await prepare(["slow"])).toEqual(["slow==1.0"]);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(900);
    index.answer(path, (_, response) => response.writeHead(503, { "retry-after": "3600" }).end("later"));
    await expect(prepare(["slow"])).rejects.toMatchObject({ message: expect.stringContaining("answered 503") });
  });

  it("sends without end is cut off at what the sandbox can hold", async () => {
    index.add(wheel);
    index.answer(path, (_, response) => {
      const more = () => {
        while (response.writable && response.write(Buffer.alloc(1_000_000)));
        if (response.writable) response.once("drain", more);
      };
      more();
    });
    await expect(prepare(["slow"], installerOf(), { diskMiB: 1 })).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringMatching(/installing slow costs too much: more than 65 MiB would be fetched/),
    });
  });
});

describe("many at once", () => {
  it("have their turns, whoever asks for more", async () => {
    const names = Array.from({ length: 40 }, (_, number) => `many${number}`);
    for (const name of [...names, "one"]) {
      const wheel = index.add(makeWheel(name, "1.0"));
      index.answer(`/files/${wheel.filename}`, (_, response) => {
        setTimeout(() => response.end(wheel.bytes), 100);
      });
    }
    const installer = installerOf();
    const order: string[] = [];
    const greedy = prepare(names, installer).then(() => order.push("greedy"));
    const modest = prepare(["one"], installer).then(() => order.push("modest"));
    await Promise.all([greedy, modest]);
    expect(order).toEqual(["modest", "greedy"]);
  });

  it("are given up where they wait", async () => {
    index.answer("/silent", () => undefined);
    const downloader = new Downloader([new URL(index.url)], 60_000);
    const url = new URL("/silent", index.url);
    const [busy, waiting] = [new AbortController(), new AbortController()];
    setMaxListeners(0, busy.signal);
    const get = ({ signal }: AbortController) =>
      downloader.get(url, { maxBytes: 1, budget: new Budget(1), signal }).catch((error: unknown) => error);
    const many = Array.from({ length: 30 }, () => get(busy));
    const last = get(waiting);
    const reason = new Error("enough");
    waiting.abort(reason);
    expect(await last).toBe(reason);
    busy.abort(reason);
    expect(await Promise.all(many)).toEqual(many.map(() => reason));
  });
});
