import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

const index = new LocalIndex();
let [cacheDir, sandbox, closed, automatic] = ["", ...Array<Sandbox | undefined>(3)] as unknown as [
  string,
  Sandbox,
  Sandbox,
  Sandbox,
];

beforeAll(async () => {
  await index.start();
  cacheDir = await mkdtemp(join(tmpdir(), "sandkit-pip-"));
  for (const version of ["1.0", "2.0"]) index.add(makeWheel("leaf", version));
  index.add(makeWheel("tree", "1.0", { requires: ["leaf"] }));
  index.add(
    makeWheel("branch", "1.0", {
      files: [
        { name: "branch/__init__.py", content: "NAME = 'branch'" },
        { name: "branch/deep/x.py", content: "" },
      ],
    }),
  );
  const packages = { indexUrl: index.url, cacheDir };
  [sandbox, closed, automatic] = await Promise.all([
    createSandbox(wasm({ packages }), { network: "packages" }),
    createSandbox(wasm({ packages })),
    createSandbox(wasm({ packages: { ...packages, autoInstall: true } }), { network: "packages" }),
  ]);
});
afterAll(async () => {
  await Promise.all([sandbox, closed, automatic].map((each) => each?.destroy()));
  await index.stop();
  await rm(cacheDir, { recursive: true });
});

const text = async (command: readonly string[], box = sandbox) => {
  const { exitCode, stdout, stderr } = await box.exec(command);
  return [exitCode, stdout.text, stderr.text] as const;
};

describe("pip", () => {
  it("installs, by each of its names, what running interpreters then have too", async () => {
    await sandbox.runCode("kept = 1");
    const [code, out] = await text(["pip", "install", "leaf==1.0"]);
    expect([code, out]).toEqual([0, expect.stringContaining("Successfully installed leaf-1.0\n")]);
    expect((await sandbox.runCode("import leaf\n[kept, leaf.VERSION]")).value).toEqual([1, "1.0"]);
    expect(await text(["python3", "-m", "pip", "install", "-q", "tree"])).toEqual([0, "", ""]);
    expect((await text(["/usr/bin/pip3", "freeze"]))[1]).toBe("leaf==1.0\ntree==1.0\n");
    expect((await text(["pip", "install", "leaf"]))[1]).toContain("already satisfied");
  });

  it("upgrades where that is asked for, and leaves nothing of the old", async () => {
    const [code, out] = await text(["pip", "install", "-U", "leaf"]);
    expect([code, out]).toEqual([0, expect.stringContaining("leaf-2.0")]);
    expect((await text(["pip", "list"]))[1]).toContain("leaf 2.0\n");
    expect((await text(["pip", "list"]))[1]).not.toContain("leaf 1.0");
  });

  it("uninstalls whole packages", async () => {
    await text(["pip", "install", "branch"]);
    await text(["python3", "-c", "import branch.deep.x"]);
    expect(await text(["pip", "uninstall", "-y", "branch"])).toEqual([0, "Successfully uninstalled branch\n", ""]);
    const site = "/usr/local/lib/python3.14/site-packages";
    const left = (await sandbox.files.list(site)).filter(({ path }) => path.includes("branch"));
    expect(left).toEqual([]);
    expect((await text(["pip", "uninstall", "-y", "branch"]))[2]).toContain("branch is not installed");
  });

  it("reads a file of requirements", async () => {
    await sandbox.files.write("requirements.txt", "# ours\nleaf >= 1 # any\n\nbranch\n");
    const [code, out] = await text(["pip", "install", "-r", "requirements.txt"]);
    expect([code, out]).toEqual([0, expect.stringContaining("branch-1.0")]);
  });

  it("says what is wrong on stderr, with the exit codes of pip", async () => {
    const absent = await text(["pip", "install", "absent"]);
    expect(absent).toEqual([
      1,
      expect.any(String),
      expect.stringContaining('package "absent": there is no such package'),
    ]);
    for (const [args, said] of [
      [["install"], "needs a package"],
      [["install", "--index-url", "http://127.0.0.1/", "leaf"], "--index-url"],
      [["install", "./leaf.whl"], "not from files"],
      [["install", "git+https://example.com/x"], "not from files"],
      [["download", "leaf"], "pip download is not available"],
      [["install", "-r", "absent.txt"], "absent.txt"],
    ] as const) {
      const [code, , err] = await text(["pip", ...args]);
      expect(code, args.join(" ")).toBeGreaterThan(0);
      expect(err, args.join(" ")).toContain(said);
    }
  });

  it("fetches nothing where the sandbox was created without network", async () => {
    const before = index.requests.length;
    const [code, , err] = await text(["pip", "install", "leaf"], closed);
    expect([code, err]).toEqual([1, expect.stringContaining('network: "packages"')]);
    const cell = await closed.runCode("%pip install leaf");
    expect(cell.stderr.text).toContain('network: "packages"');
    expect(index.requests.slice(before)).toEqual([]);
  });

  it("ends at its deadline", async () => {
    index.answer("/simple/silent/", () => undefined);
    const result = await sandbox.exec(["pip", "install", "silent"], { timeoutMs: 300 });
    expect(result).toMatchObject({ reason: "timeout", exitCode: null });
    expect((await text(["pip", "freeze"]))[0]).toBe(0);
  });
});

describe("cells", () => {
  it("install by %pip and !pip, and show what that says", async () => {
    const own = await createSandbox(wasm({ packages: { indexUrl: index.url, cacheDir } }), { network: "packages" });
    try {
      const first = await own.runCode("%pip install leaf==1.0\nimport leaf\nleaf.VERSION");
      expect([first.error, first.value, first.stdout.text]).toEqual([
        undefined,
        "1.0",
        expect.stringContaining("Successfully"),
      ]);
      expect((await own.runCode("!pip install branch\nimport branch\nbranch.NAME")).value).toBe("branch");
      expect((await own.runCode("%pip install absent")).stderr.text).toContain('package "absent"');
      expect((await own.runCode("!ls")).error?.message).toContain("no shell");
    } finally {
      await own.destroy();
    }
  });

  it("can be interrupted while they install, with their state kept", async () => {
    index.answer("/simple/silent/", () => undefined);
    await sandbox.runCode("precious = 42");
    const cell = await sandbox.runCode("%pip install silent", { timeoutMs: 500, interruptGraceMs: 3000 });
    expect(cell).toMatchObject({ reason: "timeout", stateLost: false });
    expect((await sandbox.runCode("precious")).value).toBe(42);
  });

  it("have what they import installed first, where that is wanted", async () => {
    const cell = await automatic.runCode("import json, tree\nfrom branch.deep import x\ntree.VERSION");
    expect([cell.error, cell.value]).toEqual([undefined, "1.0"]);
    const optional = await automatic.runCode("try:\n    import absent\nexcept ImportError:\n    print('without')");
    expect([optional.stdout.text, optional.stderr.text]).toEqual(["without\n", ""]);
    const missing = await automatic.runCode("import absent");
    expect([missing.error?.name, missing.stderr.text]).toEqual([
      "ModuleNotFoundError",
      expect.stringContaining("absent"),
    ]);
    await automatic.files.write("main.py", "import leaf\nprint(leaf.VERSION)");
    const program = await automatic.exec(["python3", "main.py"]);
    expect(program).toMatchObject({ exitCode: 0, stdout: { text: expect.stringContaining("2.0\n") } });
    expect((await sandbox.runCode("import absent")).stderr.text).toBe("");
  });
});
