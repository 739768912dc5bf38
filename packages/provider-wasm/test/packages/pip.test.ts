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
    expect((await text(["pip", "freeze"]))[1]).toBe("leaf==2.0\ntree==1.0\n");
  });

  it("uninstalls whole packages", async () => {
    await text(["pip", "install", "branch"]);
    await text(["python3", "-c", "import branch.deep.x"]);
    expect(await text(["pip", "uninstall", "-y", "branch"])).toEqual([0, "Successfully uninstalled branch\n", ""]);
    const site = "/usr/local/lib/python3.14/site-packages";
    const left = (await sandbox.files.list(site)).filter(({ path }) => path.includes("branch"));
    expect(left).toEqual([]);
    expect((await text(["pip", "uninstall", "-y", "branch"]))[2]).toBe(
      "WARNING: Skipping branch as it is not installed.\n",
    );
  });

  it("reads a file of requirements", async () => {
    await sandbox.files.write("requirements.txt", "# ours\nleaf >= 1 # any\n\nbranch\n");
    const [code, out] = await text(["pip", "install", "-r", "requirements.txt"]);
    expect([code, out]).toEqual([0, expect.stringContaining("branch-1.0")]);
  });

  it("reads files of requirements that name others, and options before and after the command", async () => {
    await sandbox.files.write("reqs/all.txt", "\ufeff-r more.txt\n");
    await sandbox.files.write("reqs/more.txt", "leaf \\\n  >=1\n--requirement all.txt\n");
    expect(await text(["pip", "-q", "install", "-qUr", "reqs/all.txt", "--no-input"])).toEqual([0, "", ""]);
    const [code, , err] = await text(["pip", "--timeout", "5", "install", "-rreqs/all.txt"]);
    expect([code, err]).toEqual([0, expect.stringContaining("WARNING: --timeout has no effect")]);
  });

  it("lists in the formats that programs read", async () => {
    expect((await text(["pip", "list", "--format=json"]))[1]).toBe(
      '[{"name":"branch","version":"1.0"},{"name":"leaf","version":"2.0"},{"name":"tree","version":"1.0"}]\n',
    );
    const table = "Package Version\n------- -------\nbranch  1.0    \nleaf    2.0    \ntree    1.0    \n";
    expect((await text(["pip", "list"]))[1]).toBe(table.replace(/ +\n/g, "\n"));
    expect((await text(["pip", "list", "--format", "freeze"]))[1]).toBe("branch==1.0\nleaf==2.0\ntree==1.0\n");
  });

  it("shows packages, and who needs them", async () => {
    const [code, out, err] = await text(["pip", "show", "leaf", "absent", "TREE"]);
    expect([code, err]).toEqual([0, "WARNING: Package(s) not found: absent\n"]);
    const location = "Location: /usr/local/lib/python3.14/site-packages";
    expect(out).toBe(
      `Name: leaf\nVersion: 2.0\nSummary: \n${location}\nRequires: \nRequired-by: tree\n---\n` +
        `Name: tree\nVersion: 1.0\nSummary: \n${location}\nRequires: leaf\nRequired-by: \n`,
    );
    expect((await text(["pip", "show", "absent"]))[0]).toBe(1);
  });

  it("checks what packages need", async () => {
    expect(await text(["pip", "check"])).toEqual([0, "No broken requirements found.\n", ""]);
    await text(["pip", "uninstall", "-y", "leaf"]);
    expect(await text(["pip", "check"])).toEqual([1, "tree 1.0 requires leaf, which is not installed.\n", ""]);
    await text(["pip", "install", "leaf"]);
  });

  it("installs anew what is there, where that is asked for", async () => {
    const path = "/usr/local/lib/python3.14/site-packages/leaf.py";
    await sandbox.files.write(path, "spoilt");
    expect((await text(["pip", "install", "leaf"]))[1]).toContain("already satisfied");
    expect((await text(["pip", "install", "--force-reinstall", "leaf==2"]))[1]).toContain(
      "Successfully installed leaf",
    );
    expect(await sandbox.files.readText(path)).toBe('VERSION = "2.0"\n');
  });

  it("bounds what it reads of guests: arguments, files of requirements, and those together", async () => {
    const before = index.requests.length;
    const names = Array.from({ length: 250_000 }, (_, number) => `n${number}`);
    await sandbox.files.write("many.txt", names.slice(0, 100_000).join("\n"));
    await sandbox.files.write("large.txt", names.join("\n"));
    for (let number = 0; number < 12; number += 1) {
      await sandbox.files.write(`chain${number}.txt`, `-r chain${number + 1}.txt`);
    }
    for (const [args, code, said] of [
      [["install", "-r", "many.txt"], 2, "more than 200 requirements"],
      [["install", "-r", "large.txt"], 1, "larger than 1048576 bytes"],
      [["install", "-r", "chain0.txt"], 2, "more than 10 files"],
      [["install", ...names.slice(0, 20_000)], 2, "longer than 65536 characters"],
      [["show", ...names.slice(0, 500)], 2, "200 names at the most"],
    ] as const) {
      const [got, , err] = await text(["pip", ...args]);
      expect([got, err]).toEqual([code, expect.stringContaining(said)]);
      const cell = await sandbox.runCode(`%pip ${args.join(" ")}`);
      expect(cell.stderr.text).toContain(said);
    }
    expect(index.requests.slice(before)).toEqual([]);
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
      [["install", "."], "not from files"],
      [["install", "https://example.com/leaf-1.0-py3-none-any.whl"], "not from files"],
      [["install", "-e", "."], "nothing is built from source"],
      [["install", "-c", "c.txt", "leaf"], "-c: give the versions as requirements"],
      [["install", "--no-deps", "leaf"], "--no-deps: packages come with what they need"],
      [["install", "--pre", "leaf"], "--pre: name the version"],
      [["install", "--target=x", "leaf"], "--target: packages go to one place"],
      [["install", "--what", "leaf"], "no option --what"],
      [["list", "--outdated"], "--outdated: it is not available"],
      [["freeze", "-r", "x"], "-r: it is not available"],
      [["list", "--format=xml"], "columns, freeze or json"],
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
