import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type CreateOptions, createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

const index = new LocalIndex();
let cacheDir = "";
const sandboxes: Sandbox[] = [];

beforeAll(async () => {
  await index.start();
  // Below one that others cannot write to, as caches must be.
  cacheDir = await mkdtemp(join(tmpdir(), "sandkit-packages-"));
  index.add(makeWheel("leaf", "1.0"));
  index.add(makeWheel("leaf", "1.5"));
  index.add(makeWheel("leaf", "2.0"));
  index.add(makeWheel("leaf", "3.0rc1"));
  index.add(makeWheel("leaf", "1.9"), { yanked: "broken" });
  index.add(makeWheel("socks", "1.0"));
  index.add(makeWheel("windows-only", "1.0"));
  const requires = [
    "leaf>=1,<2",
    'windows-only; sys_platform == "win32"',
    'socks; extra == "proxy"',
    "bad @ file:///x ; extra == 'dev'",
  ];
  index.add(makeWheel("tree", "1.0", { requires, extras: ["proxy", "dev"] }), { core: true });
});
afterAll(async () => {
  await index.stop();
  await rm(cacheDir, { recursive: true });
});
afterEach(async () => {
  await Promise.all(sandboxes.splice(0).map((sandbox) => sandbox.destroy()));
});

const provider = (packages: object = {}, more: object = {}) =>
  wasm({ packages: { indexUrl: index.url, cacheDir, ...packages }, ...more });

async function sandboxWith(packages: readonly string[], create: CreateOptions = {}, options: object = {}) {
  const sandbox = await createSandbox(provider(options), { packages, ...create });
  sandboxes.push(sandbox);
  return sandbox;
}

async function installed(sandbox: Sandbox): Promise<string[]> {
  const { stdout } = await sandbox.exec(["pip", "freeze"]);
  return stdout.text.trim().split("\n").sort();
}

describe("packages at creation", () => {
  it("are there in cells and programs, with what they need and nothing more", async () => {
    const progress: string[] = [];
    const sandbox = await sandboxWith(["tree"], { onProgress: (message) => progress.push(message) });
    expect((await sandbox.runCode("import tree, leaf\n[tree.VERSION, leaf.VERSION]")).value).toEqual(["1.0", "1.5"]);
    const program = await sandbox.exec(["python3", "-c", "import leaf; print(leaf.VERSION)"]);
    expect(program).toMatchObject({ exitCode: 0, stdout: { text: "1.5\n" } });
    expect(await installed(sandbox)).toEqual(["leaf==1.5", "tree==1.0"]);
    const told = await sandbox.runCode("import importlib.metadata as m\n[m.version('tree'), m.requires('tree')[0]]");
    expect(told.value).toEqual(["1.0", "leaf>=1,<2"]);
    expect(progress).toContain("downloading leaf-1.5-py3-none-any.whl");
  });

  it("are compiled once for all interpreters, and the sources of users leave nothing", async () => {
    const sandbox = await sandboxWith(["leaf==1.0"]);
    await sandbox.files.write("own.py", "import leaf");
    await sandbox.exec(["python3", "-c", "import own"]);
    const names = async (path: string) => (await sandbox.files.list(path)).map((file) => file.path.split("/").at(-1));
    expect(await names("/usr/local/lib/python3.14/site-packages/__pycache__")).toEqual(["leaf.cpython-314.pyc"]);
    expect(await names(".")).toEqual(["own.py"]);
  });

  it("come with their extras", async () => {
    expect(await installed(await sandboxWith(["Tree[Proxy]==1.*"]))).toEqual(["leaf==1.5", "socks==1.0", "tree==1.0"]);
  });

  it("are the newest that are finished and not withdrawn, unless another is asked for", async () => {
    expect(await installed(await sandboxWith(["leaf"]))).toEqual(["leaf==2.0"]);
    expect(await installed(await sandboxWith(["leaf<2"]))).toEqual(["leaf==1.5"]);
    expect(await installed(await sandboxWith(["leaf==1.9"]))).toEqual(["leaf==1.9"]);
    expect(await installed(await sandboxWith(["leaf>=3.0rc1"]))).toEqual(["leaf==3.0rc1"]);
  });

  it("take an older version where the newest does not go together with the others", async () => {
    index.add(makeWheel("picky", "1.0", { requires: ["leaf<2"] }));
    index.add(makeWheel("picky", "2.0", { requires: ["leaf>=99"] }));
    index.add(makeWheel("picky", "3.0", { python: "<3" }));
    expect(await installed(await sandboxWith(["leaf", "picky"]))).toEqual(["leaf==1.5", "picky==1.0"]);
  });

  it("come from a page of HTML too", async () => {
    index.json = false;
    try {
      expect(await installed(await sandboxWith(["leaf~=1.0"], {}, { cacheDir: false }))).toEqual(["leaf==1.5"]);
    } finally {
      index.json = true;
    }
  });

  it("are fetched once: later sandboxes need no network, also those of other providers", async () => {
    await sandboxWith(["tree"]);
    const before = index.requests.length;
    expect(await installed(await sandboxWith(["tree"]))).toEqual(["leaf==1.5", "tree==1.0"]);
    expect(index.requests.slice(before)).toEqual([]);
  });

  it("are in pooled sandboxes of their own", async () => {
    const pooled = provider({}, { pool: { size: 1 } });
    const make = async (packages: readonly string[]) => {
      const progress: string[] = [];
      const sandbox = await createSandbox(pooled, { packages, onProgress: (message) => progress.push(message) });
      sandboxes.push(sandbox);
      return { has: await installed(sandbox), cold: progress.includes("starting the sandbox's process") };
    };
    try {
      expect(await make(["leaf==1.0"])).toEqual({ has: ["leaf==1.0"], cold: true });
      // Others have theirs; meanwhile the next one with the package is made.
      expect((await make([])).has).toEqual([""]);
      const warm = expect.poll(() => make(["leaf==1.0"]), { timeout: 120_000, interval: 200 });
      await warm.toEqual({ has: ["leaf==1.0"], cold: false });
    } finally {
      await pooled.close?.();
    }
  }, 180_000);

  it("lie in the sandbox's files and count as such", async () => {
    const sandbox = await sandboxWith(["leaf"]);
    const site = "/usr/local/lib/python3.14/site-packages";
    expect(await sandbox.files.readText(`${site}/leaf.py`)).toBe('VERSION = "2.0"\n');
    index.add(makeWheel("heavy", "1.0", { files: [{ name: "heavy.bin", content: Buffer.alloc(3_000_000) }] }));
    const small = sandboxWith(["heavy"], { resources: { diskMiB: 2 } });
    await expect(small).rejects.toMatchObject({ code: "NO_SPACE" });
  });
});

describe("what cannot be installed is refused with its name and the reason:", () => {
  const refused = async (packages: readonly string[], options: object = {}) => {
    try {
      const sandbox = await createSandbox(provider(options), { packages });
      sandboxes.push(sandbox);
      return "created";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code} ${message}`;
    }
  };

  it("what is no requirement, before anything is asked", async () => {
    const before = index.requests.length;
    expect(await refused(["leaf", "=="])).toMatch(/^INVALID package "==": .*names no package/);
    for (const place of ["git+https://example.com/leaf", "./leaf-1.0-py3-none-any.whl", "https://example.com/leaf"]) {
      expect(await refused([place])).toMatch(/packages come by name, not from files or addresses/);
    }
    expect(await refused(["leaf @ https://example.com/leaf.whl"])).toMatch(/^INVALID package "leaf": .*not by address/);
    expect(index.requests.length).toBe(before);
  });

  it("a package that does not exist", async () => {
    expect(await refused(["absent"])).toMatch(
      /^INVALID package "absent": there is no such package in .*the index http:/,
    );
  });

  it("one without a wheel for WebAssembly, with what was found", async () => {
    index.list("native", "native-1.0-cp314-cp314-manylinux_2_17_x86_64.whl", "native-1.0.tar.gz");
    expect(await refused(["native"])).toMatch(
      /^INVALID package "native": no wheel for WebAssembly \(.*pyemscripten_2026_0_wasm32\): found only .*native-1\.0\.tar\.gz.*manylinux/,
    );
  });

  it("a version that does not exist", async () => {
    expect(await refused(["leaf>9"])).toMatch(
      /^INVALID package "leaf": no version fits: asked for: leaf>9; there are 3.0rc1, 2.0/,
    );
  });

  it("versions that conflict", async () => {
    index.add(makeWheel("wants-old", "1.0", { requires: ["leaf<1.2"] }));
    index.add(makeWheel("wants-new", "1.0", { requires: ["leaf>=2"] }));
    expect(await refused(["wants-old", "wants-new"])).toMatch(
      /^INVALID package "leaf": versions conflict: .*wants-old 1\.0 needs leaf<1\.2.*wants-new 1\.0 needs leaf>=2|wants-new 1\.0 needs leaf>=2.*1\.0 is chosen/,
    );
  });

  it("a wheel whose hash is another, or that has none", async () => {
    index.add(makeWheel("forged", "1.0"), { sha256: "0".repeat(64) });
    index.add(makeWheel("unsigned", "1.0"), { sha256: null });
    expect(await refused(["forged"])).toMatch(
      /^TRANSPORT package "forged": forged-1\.0-py3-none-any\.whl .*refused: its sha256/,
    );
    expect(await refused(["unsigned"])).toMatch(/^TRANSPORT package "unsigned": .*no sha256/);
  });

  it.each([
    ["climbs", { name: "../../../etc/x", content: "" }, /name/],
    ["absolute", { name: "/etc/x", content: "" }, /name/],
    ["links", { name: "link", content: "/", mode: 0o120777 }, /link/],
    ["bomb", { name: "bomb", content: Buffer.alloc(2_000_000), claimedSize: 100 }, /damaged/],
  ] as const)("a wheel that %s", async (name, file, message) => {
    index.add(makeWheel(name, "1.0", { files: [file] }));
    const said = await refused([name]);
    expect(said).toMatch(/^INVALID /);
    expect(said).toMatch(message);
    expect(said).toContain(name);
  });

  it("packages that need others without end", async () => {
    const names = Array.from({ length: 1001 }, (_, number) => `leaf${number}`);
    index.add(makeWheel("greedy", "1.0", { requires: names }));
    expect(await refused(["greedy"])).toMatch(
      /^INVALID package "greedy": greedy-1\.0-py3-none-any\.whl needs 1001 others/,
    );
    for (let number = 0; number < 301; number += 1) {
      index.add(makeWheel(`chain${number}`, "1.0", { requires: [`chain${number + 1}`] }), { core: true });
    }
    expect(await refused(["chain0"])).toMatch(/^INVALID package "chain300": .*more than 300 packages/);
  });

  it("a wheel larger than the disk, before it is unpacked", async () => {
    index.add(makeWheel("huge", "1.0", { files: [{ name: "zeros", content: Buffer.alloc(270_000_000) }] }));
    expect(await refused(["huge"])).toMatch(/^NO_SPACE .*huge-1\.0/);
  });
});

describe("an index that", () => {
  const create = (name: string, options: object = {}, more: CreateOptions = {}) =>
    createSandbox(provider({ cacheDir: false, ...options }), { packages: [name], ...more });

  it("cannot be reached is named", async () => {
    const gone = new LocalIndex();
    await gone.start();
    const { url } = gone;
    await gone.stop();
    await expect(create("leaf", { indexUrl: url })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/package "leaf": http:\/\/127\.0\.0\.1:\d+\/simple\/leaf\/: .*ECONNREFUSED/),
    });
  });

  it("is gone is not missed where its answer is known", async () => {
    const once = new LocalIndex();
    await once.start();
    once.add(makeWheel("remembered", "1.0"));
    const options = { indexUrl: once.url, cacheDir: await mkdtemp(join(cacheDir, "own-")) };
    await sandboxWith(["remembered"], {}, options);
    await once.stop();
    const long = new Date(Date.now() - 60 * 60_000);
    for (const name of await readdir(options.cacheDir)) await utimes(join(options.cacheDir, name), long, long);
    const progress: string[] = [];
    const again = { onProgress: (message: string) => progress.push(message) };
    expect(await installed(await sandboxWith(["remembered"], again, options))).toEqual(["remembered==1.0"]);
    expect(progress).toContain("the index cannot be reached: taking the versions of the last time");
  });

  const elsewhere = [
    ["http://127.0.0.1:1/private", /is refused: it is no public address/],
    ["https://127.0.0.1:1/private", /is refused: it is no public address/],
    ["https://[::1]:1/private", /is refused: it is no public address/],
    ["https://[::ffff:169.254.169.254]/latest", /is refused: it is no public address/],
    ["https://169.254.169.254/latest/meta-data", /is refused: it is no public address/],
    ["https://10.0.0.1/", /is refused: it is no public address/],
    ["https://localhost:1/", /is refused: it is no public address/],
    // A name of this machine, which its resolver gives an address of its own network.
    [`https://${hostname()}:1/`, /leads to no public address|ENOTFOUND|EAI_AGAIN/],
    ["http://192.0.2.1/", /is refused: packages come by https alone/],
    ["file:///etc/passwd", /is refused: packages come by https alone/],
  ] as const;
  it.each(elsewhere.map(([location, message], number) => [location, message, number] as const))(
    "leads to %s is not followed",
    async (location, message, number) => {
      const [moved, linked] = [`moved${number}`, `linked${number}`];
      index.answer(`/simple/${moved}/`, (_, response) => response.writeHead(302, { location }).end());
      index.add(makeWheel(linked, "1.0"), { url: location });
      for (const name of [moved, linked]) {
        await expect(create(name)).rejects.toMatchObject({
          code: "UNAVAILABLE",
          message: expect.stringMatching(new RegExp(`^package "${name}": .*(?:${message.source})`)),
        });
      }
    },
  );

  it("redirects within itself is followed, and not for ever", async () => {
    index.answer("/simple/alias/", (_, response) => response.writeHead(301, { location: "../leaf/" }).end());
    await expect(create("alias")).rejects.toMatchObject({ message: expect.stringContaining("no wheel") });
    index.answer("/simple/round/", (_, response) => response.writeHead(302, { location: "/simple/round/" }).end());
    await expect(create("round")).rejects.toMatchObject({ message: expect.stringContaining("redirects more than") });
  });

  it("never ends its page is cut off", async () => {
    index.answer("/simple/endless/", (_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const more = () => {
        while (response.writable && response.write("x".repeat(1_000_000)));
        if (response.writable) response.once("drain", more);
      };
      more();
    });
    await expect(create("endless")).rejects.toMatchObject({ message: expect.stringContaining("larger than") });
  }, 30_000);

  it("answers too slowly is given up", async () => {
    index.answer("/simple/slow/", (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(timer));
    });
    await expect(create("slow", { timeoutMs: 100 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/slow\/ did not answer in full within 1000 ms/),
    });
  });

  it("is waited for can be given up at once", async () => {
    index.answer("/simple/silent/", () => undefined);
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error("enough")), 200);
    await expect(create("silent", {}, { signal: abort.signal })).rejects.toThrow("enough");
  });

  it("stumbles is asked again", async () => {
    let asked = 0;
    index.add(makeWheel("shaky", "1.0"));
    index.answer("/files/shaky-1.0-py3-none-any.whl", (_, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(503).end();
      else response.end(makeWheel("shaky", "1.0").bytes);
    });
    expect(await installed(await sandboxWith(["shaky"], {}, { cacheDir: false }))).toEqual(["shaky==1.0"]);
  });
});

describe("a directory of wheels", () => {
  it("goes before every index, and needs none", async () => {
    const wheelDir = await mkdtemp(join(tmpdir(), "sandkit-wheels-"));
    try {
      const local = makeWheel("local-only", "1.0", { requires: ["leaf"] });
      for (const { filename, bytes } of [local, makeWheel("leaf", "0.1")])
        await writeFile(join(wheelDir, filename), bytes);
      const before = index.requests.length;
      expect(await installed(await sandboxWith(["local-only"], {}, { wheelDir }))).toEqual([
        "leaf==0.1",
        "local-only==1.0",
      ]);
      expect(index.requests.slice(before)).toEqual([]);
      const later = await sandboxWith([], {}, { wheelDir });
      expect(await later.exec(["pip", "install", "-q", "local-only"])).toMatchObject({ exitCode: 0 });
      expect((await later.runCode("import local_only\nlocal_only.VERSION")).value).toBe("1.0");
    } finally {
      await rm(wheelDir, { recursive: true });
    }
  });

  it("that is not there is named", async () => {
    await expect(
      createSandbox(provider({ wheelDir: "/proc/no-wheels" }), { packages: ["leaf"] }),
    ).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("/proc/no-wheels"),
    });
  });
});
