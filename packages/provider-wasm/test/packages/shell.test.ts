import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

const index = new LocalIndex();
let cacheDir = "";
let sandbox: Sandbox;

beforeAll(async () => {
  await index.start();
  cacheDir = await mkdtemp(join(tmpdir(), "sandkit-shell-"));
  index.add(makeWheel("leaf", "1.0"));
  index.add(makeWheel("twig", "1.0"));
  const files = [
    { name: "tool.py", content: "import sys\ndef main():\n    print(sys.argv, sys.stdin.read())\n    return 3\n" },
    { name: "tool-1.0.dist-info/entry_points.txt", content: "[console_scripts]\nrun-tool = tool:main\n" },
    { name: "tool-1.0.data/scripts/old-tool", content: "#!python\nimport os\nprint('old', sorted(os.environ))\n" },
  ];
  index.add(makeWheel("tool", "1.0", { files }));
  sandbox = await createSandbox(wasm({ packages: { indexUrl: index.url, cacheDir } }), { network: "packages" });
});
afterAll(async () => {
  await sandbox.destroy();
  await index.stop();
  await rm(cacheDir, { recursive: true });
});

async function run(command: string | readonly string[], stdin = ""): Promise<[number | null, string, string]> {
  const { exitCode, stdout, stderr } = await sandbox.exec(command, { timeoutMs: 30_000, stdin });
  return [exitCode, stdout.text, stderr.text];
}

describe("pip in the shell", () => {
  it("installs what the next command imports", async () => {
    const [code, out, err] = await run("pip install leaf && python3 -c 'import leaf; print(leaf.VERSION)'");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/Successfully installed leaf-1\.0\n1\.0\n$/);
  });

  it("is a command among others: in pipes, by each of its names, with its exit codes", async () => {
    expect(await run("pip list | grep leaf | wc -l")).toEqual([0, "1\n", ""]);
    expect(await run("python3 -m pip freeze; /usr/bin/pip3 freeze > f.txt; cat f.txt")).toEqual([
      0,
      "leaf==1.0\nleaf==1.0\n",
      "",
    ]);
    expect(await run("python3 -I -m pip install -q twig && pip3 uninstall -y twig")).toEqual([
      0,
      "Successfully uninstalled twig\n",
      "",
    ]);
    expect(await run("pip install absent >/dev/null 2>&1 || echo failed $?")).toEqual([0, "failed 1\n", ""]);
    expect((await run("pip frobnicate"))[0]).toBe(2);
    expect(await run("cd /tmp && echo leaf > here.txt && pip install -q -r here.txt; echo $?")).toEqual([0, "0\n", ""]);
    expect(await run('out=$(pip show leaf | head -n 1); echo "[$out]"; which pip')).toEqual([
      0,
      "[Name: leaf]\n/usr/bin/pip\n",
      "",
    ]);
  });
});

describe("the programs of packages", () => {
  beforeAll(async () => {
    expect((await run("pip install -q tool"))[0]).toBe(0);
  });

  it("run by their names, from an argument list and in the shell", async () => {
    expect(await run(["run-tool", "a b"], "in")).toEqual([3, "['/usr/local/bin/run-tool', 'a b'] in\n", ""]);
    expect(await run("run-tool 'a b'; echo $?", "in")).toEqual([0, "['/usr/local/bin/run-tool', 'a b'] in\n3\n", ""]);
    expect(await run("echo piped | run-tool | tr a-z A-Z")).toEqual([0, "['/USR/LOCAL/BIN/RUN-TOOL'] PIPED\n\n", ""]);
    expect((await run(["/usr/local/bin/old-tool"]))[1]).toMatch(/^old \[/);
    expect(await run("command -v run-tool")).toEqual([0, "/usr/local/bin/run-tool\n", ""]);
    expect((await run("old-tool"))[1]).not.toContain("SANDKIT");
    expect((await run(["no-tool"]))[0]).toBe(127);
  });

  it("go with them", async () => {
    await run("pip uninstall -y tool");
    expect((await run("run-tool"))[0]).toBe(127);
    expect((await run(["old-tool"]))[0]).toBe(127);
  });
});

describe("a file with a first line that names its interpreter", () => {
  const script = async (path: string, content: string) => {
    await sandbox.files.write(path, content);
    expect(await run(["chmod", "+x", path])).toEqual([0, "", ""]);
  };

  it.each([
    [
      "python",
      "#!/usr/bin/env python3\nimport sys\nprint(sys.argv[0], sys.argv[1:])\n",
      "./s one -x",
      "./s ['one', '-x']\n",
    ],
    ["python with options", "#!/usr/bin/python3 -B\nprint(__file__)\n", "./s", "/workspace/s\n"],
    ["node", "#!/usr/bin/env -S node\nconsole.log(process.argv.slice(2).join())\n", "./s a b", "a,b\n"],
    ["sh", "#!/bin/sh\necho $(basename $0) $1 $#\n", "./s a b", "s a 2\n"],
    ["nothing", 'echo "plain $1"\n', "./s a", "plain a\n"],
  ])("runs, in the shell and without: %s", async (_, content, line, output) => {
    await script("s", content);
    expect(await run(line)).toEqual([0, output, ""]);
    expect(await run(line.split(" "))).toEqual([0, output, ""]);
    expect(await run(`${line} | cat`)).toEqual([0, output, ""]);
  });

  it("runs from other places, with its input and its own output", async () => {
    await script("sub/py", "#!/usr/bin/python3\nimport sys\nsys.stdout.write(sys.stdin.read().upper())\nsys.exit(4)\n");
    expect(await run("cd sub; ./py < py | head -n 1; ../sub/py <<<x; echo $?")).toEqual([
      0,
      "#!/USR/BIN/PYTHON3\nX\n4\n",
      "",
    ]);
    await script("outer", "#!/bin/sh\npython3 -c 'print(1)' | sed s/1/2/\n");
    expect(await run("./outer")).toEqual([0, "2\n", ""]);
    expect(await run("PATH=/workspace/sub:$PATH; echo y | py")).toEqual([4, "Y\n", ""]);
  });

  it("cannot run by what is not here, or without permission", async () => {
    await script("p", "#!/usr/bin/perl\nprint 1\n");
    for (const command of ["./p", ["./p"]]) {
      expect(await run(command)).toEqual([
        126,
        "",
        "bash: ./p: /usr/bin/perl: bad interpreter: No such file or directory\n",
      ]);
    }
    await sandbox.files.write("q", "#!/usr/bin/python3\nprint(1)\n");
    expect((await run(["./q"]))[0]).toBe(126);
    expect((await run("./q"))[0]).toBe(126);
    await script("elf", "\x7fELF\0\0");
    expect((await run("./elf"))[0]).toBe(126);
  });
});
