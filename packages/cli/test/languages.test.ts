import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { describeOnEngine, dockerFolder } from "./engine.js";
import { sandkit } from "./sandkit.js";

const folder = dockerFolder();
const compiling = { timeout: 180_000 };

async function run(name: string, code: string, args: readonly string[] = [], stdin = "") {
  await writeFile(folder.path(name), code);
  return sandkit(["run", "--config", folder.config(), folder.path(name), ...args], stdin);
}

/** Each prints its arguments and its stdin, and exits with 7. */
const programs = {
  "args.py": "import sys\nprint(*sys.argv[1:], sys.stdin.read(), sep='|')\nsys.exit(7)",
  "args.js": `process.stdin.on("data", (data) => {
  console.log([...process.argv.slice(2), String(data)].join("|"));
  process.exitCode = 7;
});`,
  "args.ts": `import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
enum Separator { Bar = "|" }
const stdin: Readable = process.stdin;
const words: readonly string[] = [...process.argv.slice(2), await text(stdin)];
console.log(words.join(Separator.Bar));
process.exitCode = 7;
`,
  "args.sh": `words=("$@"); IFS='|'; echo "\${words[*]}|$(cat)"; exit 7`,
  "args.go": `package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	input, _ := io.ReadAll(os.Stdin)
	fmt.Println(strings.Join(append(os.Args[1:], string(input)), "|"))
	os.Exit(7)
}
`,
  "args.rs": `use std::io::Read;

fn main() {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    words.push(input);
    println!("{}", words.join("|"));
    std::process::exit(7);
}
`,
};

describeOnEngine("sandkit run in a container, by the name of the file alone", () => {
  it.each(Object.entries(programs))(
    "%s has its arguments, its stdin and its exit code",
    compiling,
    async (name, code) => {
      const outcome = await run(name, code, ["--", "--year", "b c"], "in");
      expect(outcome).toMatchObject({ code: 7, stdout: "--year|b c|in\n", stderr: "" });
    },
  );

  it.each([
    ["wrong.go", "package main\n\nfunc main() {\n\tmissing()\n}\n", "wrong.go:4:2: undefined: missing"],
    ["wrong.rs", "fn main() {\n    missing();\n}\n", "wrong.rs:2:5"],
  ])("%s fails with what its compiler says", compiling, async (name, code, said) => {
    const outcome = await run(name, code);
    // Releases of Go differ.
    expect([1, 2]).toContain(outcome.code);
    expect(outcome.stdout).toBe("");
    expect(outcome.stderr).toContain(said);
  });

  it("traces name the file and the line that a user of TypeScript wrote", async () => {
    const { code, stderr } = await run(
      "trace.ts",
      "interface A {\n  b: number;\n}\nconst a: A | null = null;\na!.b;\n",
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/TypeError: .*\n.*trace\.ts:5:/);
  });

  it.each([
    ["args.js", "python", /has no "node"; it has .*python3.*: take --template node, or an --image that has it/],
    ["args.ts", "python", /has no "node"; .*: take --template typescript/],
    ["args.py", "node", /has no "python3"; .*: take --template python/],
    ["args.go", "python", /has no "go"; .*: take --template go/],
    ["args.rs", "python", /has no "rustc"; .*: take --template rust/],
  ] as const)("%s in an image of %s says which template to take", async (name, template, said) => {
    const { code, stdout, stderr } = await run(name, programs[name], ["--template", template]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(stderr).toMatch(said);
  });
});

describeOnEngine("sandkit run -e and - in a container", () => {
  const given = (language: string, code: string, ...args: readonly string[]) =>
    sandkit(["run", "--config", folder.config(), "--language", language, "-e", code, "--", ...args]);

  it.each([
    ["javascript", "console.log(process.argv.slice(1).join())"],
    ["typescript", "const args: string[] = await Promise.resolve(process.argv.slice(1)); console.log(args.join())"],
    ["shell", 'echo "$1,$2"'],
    ["bash", '[[ $# == 2 ]] && IFS=, && echo "$*"'],
    ["python", "import sys; print(','.join(sys.argv[1:]))"],
  ])("code of %s has its arguments", async (language, code) => {
    expect(await given(language, code, "--a", "b")).toMatchObject({ code: 0, stdout: "--a,b\n", stderr: "" });
  });

  it.each([
    ["javascript", "console.log(process.argv.slice(2).join())"],
    ["typescript", "const args: string[] = process.argv.slice(2); console.log(args.join())"],
    ["shell", 'echo "$1,$2"'],
    ["python", "import sys; print(','.join(sys.argv[1:]))"],
  ])("a program of %s on stdin has its arguments", async (language, code) => {
    const args = ["run", "--config", folder.config(), "--language", language, "-", "--", "--a", "b"];
    expect(await sandkit(args, code)).toMatchObject({ code: 0, stdout: "--a,b\n", stderr: "" });
  });

  it("code of Rust is compiled, and --json has the result of the program", compiling, async () => {
    const args = [
      "run",
      "--config",
      folder.config(),
      "--json",
      "--language",
      "rust",
      "-e",
      'fn main() { print!("ran") }',
    ];
    const { code, stdout } = await sandkit(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, stdout: "ran", stderr: "" });
  });
});
