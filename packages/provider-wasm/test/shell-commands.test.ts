import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ diskMiB: 64 }), {});
  for (const name of ["a.txt", "b.txt", "c*.txt", ".hidden", "d/x/1", "d/2", "ü é"])
    await sandbox.files.write(name, "");
  await sandbox.files.write("bytes", "x".repeat(1234));
  await sandbox.exec("ln -s d way; ln -s nowhere gone; chmod 754 b.txt; mkdir z");
});
afterAll(() => sandbox.destroy());

type Line = readonly [command: string, stdout: string, exitCode?: number, stderr?: string];

/** Makes a test of each command line. */
function check(lines: readonly Line[]): void {
  for (const [command, stdout, exitCode = 0, stderr = ""] of lines) {
    it(command, async () => {
      const result = await sandbox.exec(command, { timeoutMs: 30_000 });
      expect([result.stdout.text, result.exitCode, result.stderr.text]).toEqual([stdout, exitCode, stderr]);
    });
  }
}

describe("ls", () => {
  check([
    ["ls", "a.txt\nb.txt\nbytes\nc*.txt\nd\ngone\nway\nz\nü é\n"],
    ["ls *.txt", "a.txt\nb.txt\nc*.txt\n"],
    ["ls *.txt | wc -l", "3\n"],
    ["ls 'c*.txt' a.txt", "a.txt\nc*.txt\n"],
    ["ls -A d .hidden", ".hidden\n\nd:\n2\nx\n"],
    ["ls -R d", "d:\n2\nx\n\nd/x:\n1\n"],
    ["ls way; ls -d way */", "2\nx\nd/\nway\nway/\nz/\n"],
    ["ls -pr --color=auto", "ü é\nz/\nway\ngone\nd/\nc*.txt\nbytes\nb.txt\na.txt\n"],
    ["ls -F b.txt d gone way", "b.txt*\ngone@\nway@\n\nd:\n2\nx/\n"],
    ["ls nowhere a.txt", "a.txt\n", 2, "ls: cannot access 'nowhere': No such file or directory\n"],
    [
      "ls -l b.txt bytes way gone | sed 's/[A-Z][a-z][a-z] [ 0-9][0-9] [0-9:]*/DATE/'",
      [
        "-rwxr-xr-- 1 user user    0 DATE b.txt",
        "-rw-r--r-- 1 user user 1234 DATE bytes",
        "lrwxrwxrwx 1 user user    7 DATE gone -> nowhere",
        "lrwxrwxrwx 1 user user    1 DATE way -> d",
        "",
      ].join("\n"),
    ],
    [
      "ls -lh bytes | awk '{ print $5 }'; ls -s bytes; ls -S | head -1; ls -lL way | head -1",
      "1.3K\n4 bytes\nd\ntotal 4\n",
    ],
    ["ls -Z", "", 1, "ls: invalid option -- 'Z'\n"],
  ]);
});

describe("patterns", () => {
  check([
    ['echo */; for name in */; do echo "<$name>"; done', "d/ way/ z/\n<d/>\n<way/>\n<z/>\n"],
    [
      "echo */*/ w*/2 d/*/1 /b*/ls nothing*/ ./*.txt",
      "d/x/ way/x/ way/2 d/x/1 /bin/ls nothing*/ ./a.txt ./b.txt ./c*.txt\n",
    ],
    [
      "shopt -s globstar; echo d/**; echo **/1; echo d/**/; echo d/**/*",
      "d d/2 d/x d/x/1\nd/x/1\nd/ d/x/\nd/2 d/x d/x/1\n",
    ],
    [
      "echo .*; shopt -s dotglob; echo .h* *; shopt -s nullglob; echo x*/",
      ".hidden\n.hidden .hidden a.txt b.txt bytes c*.txt d gone way z ü é\n\n",
    ],
    ["cd z; echo ../*.txt; GLOBIGNORE='../a*'; echo ../*.txt", "../a.txt ../b.txt ../c*.txt\n../b.txt ../c*.txt\n"],
    ["echo 'c*'.txt c\\*.txt \"d\"/*", "c*.txt c*.txt d/2 d/x\n"],
  ]);
});

describe("the environment of programs", () => {
  check([
    [
      "hidden=1; export SEEN='a b'; env | grep -E 'hidden|SEEN|IFS|^[0-9#@?]='; printenv SEEN hidden",
      "SEEN=a b\na b\n",
      1,
    ],
    ["env A=1 sh -c 'echo $A'; A=2 env sh -c 'echo $A'; env -u HOME sh -c 'echo ${HOME-none}'", "1\n2\nnone\n"],
    [
      "env -i A=1 B='x y'; env -i A=1 python3 -c 'import os; print(os.environ.get(\"A\"), \"HOME\" in os.environ)'",
      "A=1\nB=x y\n1 False\n",
    ],
    [
      "env -0 -i A=1 | tr '\\0' '#'; echo; echo in | env cat; env nosuch",
      "A=1#\nin\n",
      127,
      "bash: nosuch: command not found\n",
    ],
    ['export A=1; B=2; bash -c \'python3 -c "import os; print(os.environ[\\"A\\"])"; echo ${B-none}\'', "1\nnone\n"],
    ["env --nosuch", "", 1, "env: unrecognized option '--nosuch'\n"],
  ]);
});

describe("checksums", () => {
  check([
    [
      "printf abc | sha1sum; printf abc | sha256sum",
      [
        "a9993e364706816aba3e25717850c26c9cd0d89d  -",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -",
        "",
      ].join("\n"),
    ],
    ["sha256sum a.txt bytes > z/sums; sha256sum -c z/sums; rm z/sums", "a.txt: OK\nbytes: OK\n"],
  ]);

  it("are those of Python for every length of the last block", async () => {
    const program = [
      "import hashlib",
      "for n in list(range(50, 70)) + [119, 120, 128, 100_000]:",
      "    open(f'z/{n}', 'wb').write(bytes(i * 7 & 255 for i in range(n)))",
      "    data = open(f'z/{n}', 'rb').read()",
      "    print(hashlib.sha1(data).hexdigest(), hashlib.sha256(data).hexdigest())",
    ].join("\n");
    const theirs = await sandbox.exec(["python3", "-c", program]);
    const ours = await sandbox.exec(
      "for n in $(ls z | sort -n); do echo $(sha1sum z/$n | cut -c1-40) $(sha256sum z/$n | cut -c1-64); done",
    );
    expect(ours.stdout.text).toBe(theirs.stdout.text);
    await sandbox.exec("rm z/*");
  });
});

describe("rm", () => {
  check([
    [
      "rm -rf /; echo $?; rm -rf . ../workspace/..; echo $?; ls | wc -l",
      "1\n1\n9\n",
      0,
      [
        "rm: it is dangerous to operate recursively on '/'",
        "rm: refusing to remove '.' or '..' directory: skipping '.'",
        "rm: it is dangerous to operate recursively on '/'",
        "",
      ].join("\n"),
    ],
    [
      "mkdir y; touch y/1 -- -f; rm -- -f; rm -r . y; echo $?; ls -d y",
      "1\n",
      2,
      [
        "rm: refusing to remove '.' or '..' directory: skipping '.'",
        "ls: cannot access 'y': No such file or directory",
        "",
      ].join("\n"),
    ],
    ["rm nothing; rm -f nothing", "", 0, "rm: cannot remove 'nothing': No such file or directory\n"],
  ]);
});

describe("tr", () => {
  check([
    ["printf 'a\\0b\\0' | tr '\\0' '\\n'", "a\nb\n"],
    ["printf 'a\\1b\\tc\\037d\\n' | tr -d '\\000-\\010\\016-\\037' | tr '\\t' ,", "ab,cd\n"],
    ["find d -name 2 -print0 | tr '\\000' '\\012'; echo 'a\\b' | tr '\\\\' /", "d/2\na/b\n"],
  ]);
});

describe("what is long, or not there", () => {
  check([
    ["seq 1 1200000 | tail -1", "1200000\n"],
    [
      "yq . || xan",
      "",
      127,
      ["yq", "xan"]
        .map((name) => `sandkit: ${name}: not available in WebAssembly: use python3, or jq for JSON\n`)
        .join(""),
    ],
  ]);
});
