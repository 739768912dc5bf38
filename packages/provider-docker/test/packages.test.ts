import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { balance, type CreateOptions, createSandbox, type SandboxError } from "@sandkit/core";
import { Sweep } from "@sandkit/core/kit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EngineConnector } from "../src/engine/connector.js";
import { docker } from "../src/index.js";
import { removeUnusedSets } from "../src/packages/unused-sets.js";
import { containersWith, describeOnEngine, engine, testImages } from "./engine.js";
import { PackageIndex } from "./package-index.js";

const images = { python: testImages.python, node: testImages.node };
let index: PackageIndex;

const provider = (packages: object = {}) => docker({ images, packages: { ...index.options, ...packages } });

/** Images of sets that are made of what this index has: its address is in their keys. */
async function setImages(): Promise<string[]> {
  const found = await engine.listImages({ filters: JSON.stringify({ label: ["sandkit.packages.set"] }) });
  return found.map(({ Id }) => Id);
}

async function failure(options: CreateOptions, packages?: object): Promise<SandboxError> {
  return createSandbox(provider(packages), options).then(
    async (sandbox) => {
      await sandbox.destroy();
      throw new Error("it was created");
    },
    (error: SandboxError) => error,
  );
}

describeOnEngine("packages in a container", { timeout: 180_000 }, () => {
  let before: readonly string[];

  beforeAll(async () => {
    before = await setImages();
    index = await PackageIndex.start();
  });

  afterAll(async () => {
    await index.close();
    for (const id of await setImages()) if (!before.includes(id)) await engine.getImage(id).remove({ force: true });
  });

  it("of Python are installed by nobody, and are all that is left of it", async () => {
    const told: string[] = [];
    const packages = ["greet", "intruder"];
    await using sandbox = await createSandbox(provider(), { packages, onProgress: (message) => told.push(message) });
    const exact = ["greet==1.5", "intruder==1.0", "words==2.0"];
    expect((await sandbox.info()).packages).toEqual(exact);
    expect(told).toContain(`installed ${exact.join(", ")}`);
    const seen = await sandbox.runCode("import intruder, words; [words.WORDS, intruder.TRIED, intruder.__cached__]");
    expect(seen.value).toEqual([
      "from the index",
      {
        program: "Read-only file system",
        library: "Read-only file system",
        start: "Read-only file system",
        accounts: "Read-only file system",
        "everybody's": "Read-only file system",
        device: "Operation not permitted",
        link: "File exists",
        user: expect.any(Number),
        capabilities: 0,
        filter: "2",
        "new privileges": "1",
      },
      expect.stringMatching(/^\/opt\/sandkit\/python\/.*\.pyc$/),
    ]);
    const look = [
      "greet",
      "ls -d /usr/bin/python3-own /var/tmp/own /usr/lib/python3/dist-packages/own.py",
      "find /opt/sandkit ! -type l -perm /022 -o ! -uid 0",
      "touch /opt/sandkit/python/x",
      "pip install leaf >&2",
    ];
    const { stdout, stderr } = await sandbox.exec(look.join("; "));
    expect(stdout.text).toBe("greet: from the index\n");
    expect(stderr.text).toContain("touch: cannot touch");
    // Without a network pip says so, and at once.
    expect(stderr.text).toContain("sandbox-without-network");
    // What is asked for exactly like that is there again; what is there costs the index nothing.
    const asked = index.asked.length;
    const again = await Promise.all(
      [packages, packages.toReversed()].map((each) => createSandbox(provider(), { packages: each })),
    );
    await Promise.all(again.map((each) => each.destroy()));
    expect(index.asked.length).toBe(asked);
  });

  it("of Node are found by require and import from anywhere, with their programs", async () => {
    const packages = ["tree", "leaf@2"];
    await using sandbox = await createSandbox(provider(), { template: "node", packages });
    expect((await sandbox.info()).packages).toEqual(["npm:leaf@2.0.0", "npm:tree@1.0.0"]);
    await sandbox.files.write("main.mjs", 'import tree from "tree"; import leaf from "leaf"; console.log(tree, leaf);');
    const run =
      "node main.mjs; cd /tmp; node -p 'require(\"leaf\")'; tree-grows; ls -a /usr/bin/own /etc/own; cat /node_modules/tree/told.txt";
    const { stdout } = await sandbox.exec(run);
    expect(stdout.text).toMatch(/^tree of old leaf leaf\nleaf\ngrows\n[2-5]\d{4}\n$/);
    const cell = await sandbox.runCode('(await import("tree")).default', { language: "javascript" });
    expect(cell.value).toBe("tree of old leaf");
  });

  it("asked for at once by several, in two programs, are fetched once", async () => {
    const program = fileURLToPath(new URL("./installer.mjs", import.meta.url));
    const options = JSON.stringify({ packages: index.options });
    const inProgram = async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [program, testImages.python, options]);
      return stdout.trim();
    };
    const here = async () => {
      await using sandbox = await createSandbox(provider(), { packages: ["words"] });
      return (await sandbox.runCode("import words; words.WORDS")).value;
    };
    expect(await Promise.all([inProgram(), here(), inProgram(), here()])).toEqual(Array(4).fill("from the index"));
    expect(index.asked.filter((path) => path.startsWith("/pip-file/words-2.0"))).toHaveLength(2);
  });

  it("that cannot be had say which, from where and why, and leave nothing", async () => {
    const images = await setImages();
    const nobody = { indexUrl: "http://127.0.0.1:9/simple/" };
    const errors = await Promise.all([
      failure({ packages: ["broken"] }),
      failure({ packages: ["words"] }, nobody),
      failure({ packages: ["hanging"] }, { timeoutMs: 8_000 }),
      failure({ packages: ["large"] }, { memoryMiB: 256 }),
      failure({ template: "node", packages: ["thorn"] }),
      failure({ template: "node", packages: ["secretive"] }),
    ]);
    const { indexUrl, npmRegistry } = index.options;
    expect(errors.map(({ code, packageFailure }) => [code, packageFailure])).toEqual([
      ["INVALID", { reason: "build", package: "broken", index: indexUrl }],
      ["UNAVAILABLE", { reason: "unreachable", package: "words", index: nobody.indexUrl }],
      ["TIMEOUT", { reason: "time", index: indexUrl }],
      ["NO_SPACE", { reason: "space" }],
      ["INVALID", { reason: "build", package: "thorn", index: npmRegistry }],
      ["INVALID", undefined],
    ]);
    expect(errors[5]?.message).toContain("closed");
    for (const at of [0, 4]) expect(errors[at]?.message).toContain("needs a compiler");
    expect([await containersWith("sandkit.installs"), await setImages()]).toEqual([[], images]);
  });

  it("are in forks and snapshots of their sandbox, and can be added to a snapshot without any", async () => {
    const own = provider();
    const packages = ["greet"];
    const open = [await createSandbox(own, { packages }), await createSandbox(own)];
    const snapshots: string[] = [];
    const create = async (options: CreateOptions) => {
      const made = await createSandbox(own, options);
      open.push(made);
      return made;
    };
    try {
      const [added, bare] = await Promise.all(
        open.map(async (one) => {
          const { id } = await one.snapshot();
          snapshots.push(id);
          return id;
        }),
      );
      const copies = (await open[0]?.fork()) ?? [];
      open.push(...copies);
      copies.push(await create({ snapshot: added }), await create({ snapshot: added, template: "python", packages }));
      const over = await create({ snapshot: bare, packages });
      const { id } = await over.snapshot();
      snapshots.push(id);
      copies.push(over, await create({ snapshot: id }));
      for (const copy of copies) {
        expect((await copy.info()).packages).toEqual(["greet==1.5", "words==2.0"]);
        expect((await copy.exec("greet")).stdout.text).toBe("greet: from the index\n");
      }
      const other = await failure({ snapshot: added, packages: ["words<2"] });
      expect(other).toMatchObject({ code: "INVALID", message: expect.stringContaining("greet==1.5") });
    } finally {
      await Promise.all(open.map((one) => one.destroy()));
      for (const id of snapshots) await own.removeSnapshot?.(id);
    }
  });

  it("whose index is not reached are no failure of the backend", async () => {
    const health: unknown[] = [];
    const balanced = balance(
      { away: provider({ indexUrl: "http://127.0.0.1:9/simple/" }), near: provider() },
      { failures: 1, onHealth: (change) => health.push(change) },
    );
    await using sandbox = await createSandbox(balanced, { packages: ["words"] });
    expect(sandbox.ref.id).toMatch(/^near\./);
    expect(health).toEqual([]);
  });

  it("that nobody has used for long are found by gc", async () => {
    const client = await new EngineConnector({}).connect();
    const found = async (keptMs?: number) => {
      const sweep = new Sweep("docker", { dryRun: true });
      await removeUnusedSets(client, { olderThanMs: 0 }, sweep, keptMs);
      return sweep.end();
    };
    expect(await found()).toEqual([]);
    const all = await found(0);
    expect(all.length).toBeGreaterThan(1);
    for (const { id } of all) expect(id).toMatch(/^sandkit\/packages:[0-9a-f]{32}$/);
  });
});
