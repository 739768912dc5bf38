import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Budget } from "../../src/packages/budget.js";
import { PackageCache } from "../../src/packages/cache.js";
import { Downloader } from "../../src/packages/download.js";
import { Fetcher } from "../../src/packages/fetcher.js";
import { type InstallRequest, PackageInstaller } from "../../src/packages/installer.js";
import { wasmEnvironment } from "../../src/packages/marker.js";
import type { PackagesOptions } from "../../src/packages/options.js";
import type { LockedPackage } from "../../src/packages/pyodide-lock.js";
import { parseRequirement } from "../../src/packages/requirement.js";
import { resolve } from "../../src/packages/resolve.js";
import { lockSource } from "../../src/packages/sources.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

let index: LocalIndex;
let wheelDir: string;

beforeAll(async () => {
  wheelDir = await mkdtemp(join(tmpdir(), "sandkit-resolve-"));
});
beforeEach(async () => {
  index = new LocalIndex();
  await index.start();
  return () => index.stop();
});
afterAll(() => rm(wheelDir, { recursive: true }));

/** Name and version, and what it needs. */
const add = (package_: string, ...requires: string[]) => {
  const [name = "", version = ""] = package_.split("==");
  index.add(makeWheel(name, version, { requires }), { core: true });
};

interface Situation extends Partial<InstallRequest> {
  /** What is in the sandbox, and what it needs. */
  readonly has?: Readonly<Record<string, readonly string[]>>;
  readonly options?: PackagesOptions;
}

async function choose(requirements: readonly string[], { has = {}, options = {}, ...more }: Situation = {}) {
  const { indexUrl = index.url } = options;
  const installer = new PackageInstaller({ cacheDir: false, ...options, indexUrl }, {});
  const installed = Object.entries(has).map(([package_, requires]) => {
    const [name = "", version = ""] = package_.split("==");
    return [name, { version, requires }] as const;
  });
  const archives = await installer.prepare({ requirements, installed: new Map(installed), network: true, ...more });
  return archives.map(({ name, version }) => `${name}==${version}`).sort();
}

describe("versions that go together", () => {
  it("are found where the newest do not, also through several packages", async () => {
    add("a==2.0", "b>=2");
    add("a==1.0", "b");
    add("b==2.0", "c<2");
    add("b==1.0", "c");
    add("c==2.0");
    expect(await choose(["a", "c==2.0"])).toEqual(["a==1.0", "b==1.0", "c==2.0"]);
  });

  it("are found where packages need each other", async () => {
    add("a==1.0", "b");
    add("b==1.0", "a>=1");
    expect(await choose(["a"])).toEqual(["a==1.0", "b==1.0"]);
  });

  it("hold for the extras that another package adds later", async () => {
    index.add(makeWheel("tree", "1.0", { requires: ["leaf<2; extra == 'old'"], extras: ["old"] }), { core: true });
    add("leaf==1.0");
    add("leaf==2.0");
    add("wants==1.0", "tree[old]");
    for (const order of [
      ["tree", "leaf", "wants"],
      ["wants", "tree", "leaf"],
    ]) {
      expect(await choose(order)).toEqual(["leaf==1.0", "tree==1.0", "wants==1.0"]);
    }
  });

  it("are found where an older version asks for no extra of another", async () => {
    index.add(makeWheel("tree", "1.0", { requires: ["leaf<2; extra == 'old'"], extras: ["old"] }), { core: true });
    for (const version of ["1.0", "2.0"]) add(`leaf==${version}`);
    add("wants==2.0", "tree[old]");
    add("wants==1.0", "tree");
    for (const asked of [
      ["tree", "wants", "leaf>=2"],
      ["leaf>=2", "tree", "wants"],
      ["wants", "leaf>=2"],
    ]) {
      expect(await choose(asked)).toEqual(["leaf==2.0", "tree==1.0", "wants==1.0"]);
    }
  });

  it("leave out a version whose metadata cannot be read", async () => {
    add("leaf==1.0");
    add("leaf==2.0", "what is this");
    expect(await choose(["leaf"])).toEqual(["leaf==1.0"]);
    await expect(choose(["leaf==2.0"])).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/^package "leaf": leaf-2\.0-.* has metadata that cannot be read/),
    });
  });

  it("are not sought for ever", async () => {
    for (let version = 1; version <= 30; version += 1) {
      for (const name of ["a", "b", "c", "d"]) add(`${name}==${version}`, `e==${version}`);
    }
    for (let version = 1; version <= 31; version += 1) add(`e==${version}`);
    await expect(choose(["a", "b", "c", "d", "e==31"])).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining('package "e": versions conflict'),
    });
  });

  it("are sought while others have their turn, however many conditions there are", async () => {
    const conditions = Array.from({ length: 1000 }, (_, number) => `leaf>=0.${number}`);
    const names = Array.from({ length: 50 }, (_, number) => `p${number}`);
    for (const name of names) add(`${name}==1.0`, ...conditions);
    add("leaf==1.0");
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 20);
    try {
      expect(await choose(["leaf", ...names])).toHaveLength(51);
    } finally {
      clearInterval(timer);
    }
    expect(turns).toBeGreaterThan(2);
  });

  it("are not sought for more packages than anybody has", async () => {
    const before = index.requests.length;
    const many = Array.from({ length: 201 }, () => "leaf");
    await expect(choose(many)).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("201") });
    expect(index.requests.length).toBe(before);
  });

  it("are told, with extras that do not exist", async () => {
    add("leaf==1.0");
    const notes: string[] = [];
    await choose(["leaf[nonsense]"], { onProgress: (note) => notes.push(note) });
    expect(notes).toContain("leaf 1.0 has no extra nonsense");
  });
});

describe("what is installed", () => {
  it("stays where it fits, and gives way where only another version does", async () => {
    for (const version of ["1.0", "2.0"]) add(`leaf==${version}`);
    add("new==1.0", "leaf>=2");
    expect(await choose(["leaf"], { has: { "leaf==1.0": [] } })).toEqual([]);
    expect(await choose(["leaf"], { has: { "leaf==1.0": [] }, upgrade: true })).toEqual(["leaf==2.0"]);
    expect(await choose(["new"], { has: { "leaf==1.0": [] } })).toEqual(["leaf==2.0", "new==1.0"]);
  });

  it("gets what it lacks when it is asked for", async () => {
    add("leaf==1.0");
    expect(await choose(["tree"], { has: { "tree==1.0": ["leaf"] } })).toEqual(["leaf==1.0"]);
  });

  it("stays as it is when an extra of it is asked for", async () => {
    const requires = ["socks; extra == 'proxy'"];
    for (const version of ["1.0", "2.0"]) {
      index.add(makeWheel("tree", version, { requires, extras: ["proxy"] }), { core: true });
    }
    add("socks==1.0");
    expect(await choose(["tree[proxy]"], { has: { "tree==1.0": requires } })).toEqual(["socks==1.0"]);
  });

  it("is a reason to take an older version of another package", async () => {
    add("a==2.0", "tree>=2");
    add("a==1.0");
    add("tree==2.0", "leaf>=2");
    expect(await choose(["a", "leaf"], { has: { "leaf==1.0": [] } })).toEqual(["a==1.0"]);
  });

  it("is not broken by what comes", async () => {
    for (const version of ["1.0", "1.5", "2.0"]) add(`leaf==${version}`);
    add("tree==1.0", "leaf<2");
    const has = { "tree==1.0": ["leaf<2"], "leaf==1.0": [] };
    expect(await choose(["leaf"], { has, upgrade: true })).toEqual(["leaf==1.5"]);
    await expect(choose(["leaf==2.0"], { has })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(
        /^package "leaf": versions conflict: asked for: leaf==2\.0; tree 1\.0, which is installed, needs leaf<2; there are 2\.0/,
      ),
    });
    add("new==1.0", "leaf>=2");
    await expect(choose(["new"], { has })).rejects.toMatchObject({ message: expect.stringContaining("tree 1.0") });
  });

  it("is changed along where that is the only way", async () => {
    for (const version of ["1.0", "2.0"]) add(`leaf==${version}`);
    add("tree==2.0", "leaf>=2");
    const has = { "tree==1.0": ["leaf<2"], "leaf==1.0": [] };
    expect(await choose(["leaf==2.0"], { has })).toEqual(["leaf==2.0", "tree==2.0"]);
    expect(await choose(["leaf==2.0", "tree==2.0"], { has })).toEqual(["leaf==2.0", "tree==2.0"]);
  });

  it("may be broken already: that is no reason to refuse others", async () => {
    add("new==1.0", "leaf");
    const has = { "tree==1.0": ["leaf<2", "absent"], "leaf==2.0": [] };
    expect(await choose(["new"], { has })).toEqual(["new==1.0"]);
  });

  it("may tell anything of itself", async () => {
    add("leaf==1.0");
    const notes: string[] = [];
    const has = { "odd==not-a-version": [], "worse==1.0": ["==", "x".repeat(5000), "leaf; python_version ~= '3'"] };
    expect(await choose(["leaf"], { has, onProgress: (note) => notes.push(note) })).toEqual(["leaf==1.0"]);
    expect(notes.filter((note) => note.endsWith(": ignored"))).toHaveLength(4);
  });

  it("tells little of what cannot be read", async () => {
    add("leaf==1.0");
    const notes: string[] = [];
    const has = { "odd==1.0": Array.from({ length: 1000 }, () => "") };
    await choose(["leaf"], { has, onProgress: (note) => notes.push(note) });
    expect(notes.filter((note) => note.endsWith(": ignored"))).toHaveLength(6);
    expect(notes).toContain("and 995 more such things in the sandbox: ignored");
  });
});

it("what a sandbox says that it has costs what it takes to read it", async () => {
  const marker = Array.from({ length: 60 }, () => "python_version > '3'").join(" or ");
  const requires = Array.from({ length: 1000 }, (_, number) => `leaf>${number}; ${marker}`);
  const has = Object.fromEntries(Array.from({ length: 50 }, (_, number) => [`p${number}==1.0`, requires]));
  await expect(choose(["leaf"], { has })).rejects.toMatchObject({
    code: "TOO_LARGE",
    message: expect.stringContaining("installing leaf costs too much: there are too many versions and conditions"),
  });
}, 60_000);

describe("sources", () => {
  const local = async (...packages: string[]) => {
    const directory = await mkdtemp(join(wheelDir, "w"));
    for (const package_ of packages) {
      const [name = "", version = ""] = package_.split("==");
      const { filename, bytes } = makeWheel(name, version);
      await writeFile(join(directory, filename), bytes);
    }
    return directory;
  };

  it("are asked for versions that are finished before any gives one that is not", async () => {
    add("leaf==1.0");
    const options = { wheelDir: await local("leaf==2.0rc1") };
    expect(await choose(["leaf"], { options })).toEqual(["leaf==1.0"]);
    expect(await choose(["leaf>=2.0rc1"], { options })).toEqual(["leaf==2.0rc1"]);
    expect(await choose(["leaf"], { options, network: false })).toEqual(["leaf==2.0rc1"]);
  });

  it("of Pyodide's makers tell of no extras: the wheels themselves do", async () => {
    const requires = ["never", "socks; extra == 'proxy'"];
    const wheel = index.add(makeWheel("built", "1.0", { requires, extras: ["proxy"] }));
    const locked: LockedPackage = { ...wheel, depends: [], imports: [], kind: "wheel" };
    const lock = {
      target: { python: "3.14.2", platform: "pyemscripten_2026_0_wasm32" },
      packages: new Map([locked, { ...locked, name: "socks" }].map((each) => [each.name, each])),
    };
    const { signal } = new AbortController();
    const budget = new Budget(1);
    const downloader = new Downloader([new URL(index.url)], 1000);
    const notes: string[] = [];
    const onNote = (note: string) => notes.push(note);
    const cache = new PackageCache(undefined);
    const fetcher = new Fetcher({ downloader, cache, budget, signal, onProgress: onNote });
    const pins = await resolve([parseRequirement("built[proxy,other]")], {
      sources: [lockSource(lock, new URL("/files/", index.url), false, fetcher)],
      target: lock.target,
      environment: wasmEnvironment(lock.target.python),
      installed: new Map(),
      budget,
      onNote,
    });
    expect(pins.map(({ name }) => name)).toEqual(["built", "socks"]);
    expect(notes).toContain("built 1.0 has no extra other");
  });

  it("that cannot be reached are an error, unless one before them has what fits", async () => {
    const { url } = index;
    await index.stop();
    // Pyodide's makers have this one too, of plain Python: it comes after the index.
    const unreachable = { code: "UNAVAILABLE", message: expect.stringMatching(/^package "attrs": .*ECONNREFUSED/) };
    await expect(choose(["attrs"], { options: { indexUrl: url } })).rejects.toMatchObject(unreachable);
    const options = { indexUrl: url, wheelDir: await local("attrs==1.0", "leaf==1.0") };
    expect(await choose(["attrs", "leaf"], { options })).toEqual(["attrs==1.0", "leaf==1.0"]);
    await index.start();
  });
});
