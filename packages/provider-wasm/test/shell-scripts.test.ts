import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ diskMiB: 64 }), {});
  await sandbox.files.write("args.py", "import sys\nprint(*sys.argv[1:])\n");
  await sandbox.files.write("wait.py", "import time\nprint('began', flush=True)\ntime.sleep(60)\n");
  await sandbox.files.write("src/a.py", "x = 1\ndef foo(): pass\n");
  await sandbox.files.write("src/b c.py", "# FOO\n");
});
afterAll(() => sandbox.destroy());

/** Output, errors and exit code of a command line. */
async function run(command: string | readonly string[], timeoutMs = 60_000): Promise<[string, string, number | null]> {
  const { exitCode, stdout, stderr } = await sandbox.exec(command, { timeoutMs });
  return [stdout.text, stderr.text, exitCode];
}

type Line = readonly [command: string, stdout: string, stderr?: string, exitCode?: number];

/** Makes a test of each command line. */
function check(lines: readonly Line[]): void {
  for (const [command, stdout, stderr = "", exitCode = 0] of lines) {
    it(command, async () => expect(await run(command)).toEqual([stdout, stderr, exitCode]));
  }
}

describe("what a script has written when its deadline comes", () => {
  const scripts: readonly string[] = [
    "python3 wait.py 2>&1",
    "python3 wait.py 2>/dev/null",
    "exec 2>&1; python3 wait.py",
    "echo 'echo began; sleep 60' > s.sh; bash s.sh",
    "echo 'echo began; sleep 60' > s.sh; chmod +x s.sh; ./s.sh",
    "echo 'echo began; sleep 60' > s.sh; . ./s.sh",
    'main() { echo "$1"; sleep 60; }; main began',
    "main() { python3 wait.py; }; main 2>&1",
    "timeout 60 python3 wait.py",
    "bash -c 'python3 wait.py'",
    "eval 'echo began; sleep 60'",
    "(echo began; sleep 60)",
    "{ echo began; sleep 60; } 2> errors",
    "for i in began; do echo $i; sleep 60; done < args.py",
    "echo began | while read -r line; do echo $line; sleep 60; done",
    "echo began | xargs -I{} sh -c 'echo {}; sleep 60'",
    "{ echo began >&2; sleep 60; } 2>&1",
  ];
  it.each(scripts)("is there: %s", async (command) => {
    // A program of Python takes its time to begin.
    const timeoutMs = command.includes("python3") ? 2500 : 1000;
    const result = await sandbox.exec(command, { timeoutMs });
    expect([result.reason, result.stdout.text]).toEqual(["timeout", "began\n"]);
  });
});

describe("output", () => {
  check([
    ["f() { echo a; echo b >&2; }; f; f | cat; x=$(f); echo [$x]; f >o 2>&1; cat o", "a\na\n[a]\na\nb\n", "b\nb\nb\n"],
    ["f() { echo a; } > o; f; echo kept; cat o", "kept\na\n"],
    ["setup() { exec > o; }; setup; echo x; python3 args.py y; bash -c 'echo z'; cat o >&2", "", "x\ny\nz\n"],
    ["echo 'exec > o' > env.sh; . ./env.sh; echo x; exec >&2; cat o", "", "x\n"],
    ["eval 'exec 2> o'; python3 -c 1/0; exec 2>&1; grep -c Zero o", "1\n"],
    ["{ echo a; python3 args.py b; echo c >&2; } 2>&1 | cat", "a\nb\nc\n"],
    ["exec 3>&1; f() { echo to three >&3; echo x; }; f", "to three\nx\n"],
    ["python3 args.py a >&2; python3 -c 'import sys; sys.stderr.write(\"e\")' 2>&1 >/dev/null", "e", "a\n"],
    ["echo 'echo in' | bash; echo a | bash -c 'cat; echo b'", "in\na\nb\n"],
    ["printf 'ü' | python3 -c 'import sys; print(sys.stdin.buffer.read())'", "b'\\xc3\\xbc'\n"],
    ["set -v\necho a\n", "a\n", "echo a\n"],
  ]);
});

describe("timeout", () => {
  check([
    ["timeout 0.3 sh -c 'echo a; sleep 9; echo b'; echo $?", "a\n124\n"],
    ["x=$(timeout 0.3 sh -c 'echo a; sleep 9; echo b'); echo $? $x", "124 a\n"],
    ["x=$(timeout 2 python3 wait.py); echo $? $x", "124 began\n"],
    ["timeout 3 python3 -c 'while True: print(1)' | head -n 1; echo ${PIPESTATUS[0]}", "1\n124\n"],
    ["timeout -s KILL 0.2 sleep 9; timeout -s KILL 0.2 sleep 9 || echo $?", "137\n"],
    ["timeout --signal=9 --kill-after 1 0.2 sleep 9; echo $?", "137\n"],
    ["timeout --preserve-status 0.2 sleep 9; echo $?", "143\n"],
    ["timeout 1m true; timeout 1.5h false; echo $?; timeout 0 echo none", "1\nnone\n"],
    ["export A=1; timeout 9 sh -c 'echo $A'; echo in | timeout 9 cat", "1\nin\n"],
    ["timeout 0.2 sh -c '{ (while true; do sleep 0.05; done); }'; echo $?", "124\n"],
    ["timeout 5x true", "", "timeout: invalid time interval '5x'\n", 125],
    ["timeout -q 5 true", "", "timeout: invalid option -- 'q'\n", 125],
    ["timeout 5", "", "timeout: missing operand\n", 125],
  ]);

  it("ends by SIGKILL what ignores the first signal", async () => {
    const ignores = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)";
    await sandbox.files.write("ignores.py", ignores);
    expect(await run("timeout -k 1 2 python3 ignores.py; echo $?")).toEqual(["up\n137\n", "", 0]);
  });
});

describe("shells within a shell", () => {
  check([
    ["bash -lc 'echo $0 $1' name one", "name one\n"],
    ["bash -euo pipefail -c 'false | true; echo no'; echo $?", "1\n"],
    ["echo 'echo $-' > s.sh; bash -e s.sh | grep -c e", "1\n"],
    ["bash -x -c 'echo a'", "a\n", "+ echo a\n"],
    ["echo 'if' > s.sh; sh -n s.sh 2>/dev/null; echo $?; echo 'echo no' > s.sh; sh -n s.sh", "2\n"],
    ["echo 'echo $# $2' | bash -s -- a b", "2 b\n"],
    ["export A=1; B=2; f() { :; }; bash -c 'echo $A [$B]; f' 2>/dev/null; echo $?", "1 []\n127\n"],
    ["bash none", "", "bash: none: No such file or directory\n", 127],
    ["bash src", "", "bash: src: Is a directory\n", 126],
    ["printf 'a\\0b' > bin; sh bin", "", "bash: bin: cannot execute binary file\n", 126],
    ["bash -q", "", "bash: -q: invalid option\n", 2],
  ]);

  it("say why a script is too large", async () => {
    const large = await createSandbox(wasm({ diskMiB: 128 }), {});
    await large.files.write("large", new Uint8Array((64 << 20) + 1).fill(10));
    const { exitCode, stderr } = await large.exec(["bash", "large"]);
    expect([exitCode, stderr.text]).toEqual([126, "bash: large: File too large\n"]);
    await large.destroy();
  });
});

describe("traps at the end", () => {
  check([
    ["(trap 'echo sub' EXIT; echo in); echo out", "in\nsub\nout\n"],
    ["x=$(trap 'echo end' EXIT; echo in); echo $x", "in end\n"],
    ["trap 'echo outer' EXIT; bash -c 'trap \"echo inner\" EXIT; echo in'; echo out", "in\ninner\nout\nouter\n"],
    ["echo 'trap \"echo file\" EXIT' > s.sh; chmod +x s.sh; ./s.sh; echo after", "file\nafter\n"],
    ["echo 'bye() { echo from file $?; }' > l.sh; . ./l.sh; trap bye EXIT; exit 4", "from file 4\n", "", 4],
    ["a=(1 2 3); declare -A m=([k]=v); trap 'echo ${a[2]} ${m[k]}' EXIT", "3 v\n"],
    ["trap 'exit 9' EXIT; exit 3", "", "", 9],
    ["trap 'echo e' EXIT; set -e; false; echo no", "e\n", "", 1],
    ["trap 'echo e' EXIT; trap - EXIT; trap; echo none", "none\n"],
    ["trap 'echo e' EXIT; trap -p", "trap -- 'echo e' EXIT\ne\n"],
    ["cd src; trap 'pwd' EXIT; exec 2>/dev/null", "/workspace/src\n"],
    ["trap 'echo e' EXIT; exec > o; echo x; exit 2", "", "", 2],
    ["cat o", "x\ne\n"],
  ]);
});

describe("xargs", () => {
  check([
    ["find src -name '*.py' -print0 | xargs -0 grep -nE 'foo|FOO'", "src/a.py:2:def foo(): pass\nsrc/b c.py:1:# FOO\n"],
    ["echo src/a.py | xargs grep -nH x", "src/a.py:1:x = 1\n"],
    ["echo src/a.py | xargs grep -In x", "1:x = 1\n"],
    ["echo src/a.py | xargs -n1 -P 2 -- grep -l x", "src/a.py\n"],
    ["printf 'a b\\n c\\n' | xargs -I {} echo '<{}>'", "<a b>\n<c>\n"],
    ["printf 'a\\nb\\n' | xargs -I% sh -c 'echo %-%'", "a-a\nb-b\n"],
    ["echo '\"a b\" c\\ d' | xargs -n1", "a b\nc d\n"],
    ["echo a,b,c | tr -d '\\n' | xargs -d, -n2 echo", "a b\nc\n"],
    ["printf 'a b\\nc d\\n' | xargs -L1 echo -", "- a b\n- c d\n"],
    ["printf '' | xargs echo none; printf '' | xargs -r echo none", "none\n"],
    ["echo a | xargs -t echo", "a\n", "echo a\n"],
    ["echo a | xargs false", "", "", 123],
    ["echo a | xargs nosuch", "", "bash: nosuch: command not found\n", 127],
    ["echo a | xargs -z echo", "", "xargs: invalid option -- 'z'\n", 1],
    ["echo a | xargs --arg-file=x echo", "", "xargs: unrecognized option '--arg-file'\n", 1],
    ["export A=1; echo a | xargs sh -c 'echo $A $0'", "1 a\n"],
  ]);

  it("runs many programs, some at a time", async () => {
    const [stdout, stderr] = await run("seq 12 | xargs -P 50 -I{} python3 args.py {}");
    expect([
      stdout
        .trim()
        .split("\n")
        .map(Number)
        .sort((a, b) => a - b),
      stderr,
    ]).toEqual([Array.from({ length: 12 }, (_, index) => index + 1), ""]);
  }, 90_000);
});

describe("files with random names", () => {
  check([
    ["f=$(mktemp) && stat -c %a $f && echo $f | grep -cE '^/tmp/tmp.[A-Za-z0-9]{10}$'", "600\n1\n"],
    ["d=$(mktemp --directory) && stat -c %a $d && [ -d $d ] && echo directory", "700\ndirectory\n"],
    ["mktemp -d build-XXXX.d | grep -cE '^build-[A-Za-z0-9]{4}\\.d$'; rm -r build-*", "1\n"],
    ["mktemp -u --suffix=.log a.XXXXX | grep -cE '^a\\.[A-Za-z0-9]{5}\\.log$'; ls a.* 2>/dev/null", "1\n", "", 2],
    ["TMPDIR=/workspace/src mktemp -u | grep -c ^/workspace/src/tmp", "1\n"],
    ["mktemp -u -p src x.XXXXXX | grep -c ^src/x; mktemp -u -t y.XXXXXX | grep -c ^/tmp/y", "1\n1\n"],
    ["mktemp none", "", "mktemp: too few X's in template 'none'\n", 1],
    ["mktemp -k", "", "mktemp: invalid option -- 'k'\n", 1],
  ]);
});

describe("copies", () => {
  check([
    ["mkdir d; echo x > d/f; ln -s f d/l; ln -s no d/n; cp -r d e; readlink e/l e/n; cat e/l", "f\nno\nx\n"],
    ["cp -r d/l k; readlink k; cp d/l c; readlink c || cat c; rm k c", "f\nx\n"],
    [
      "echo old > e/f; echo kept > e/other; rm e/l; ln -s other e/l; cp -r d/. e; readlink e/l; cat e/f e/other",
      "f\nx\nkept\n",
    ],
    ["rm e/f; ln -s other e/f; cp -r d/. e; readlink e/f; cat e/other", "other\nx\n"],
    ["rm e/f; mkdir e/f; cp -r d/. e 2>/dev/null || echo refused; ls -d e/f/", "refused\ne/f/\n"],
    ["cp -r d d/in 2>/dev/null || echo refused; ls d; rm -r d e", "refused\nf\nl\nn\n"],
  ]);
});

describe("paths", () => {
  check([
    ["realpath src new ../tmp/../tmp", "/workspace/src\n/workspace/new\n/tmp\n"],
    ["realpath -e new", "", "realpath: new: No such file or directory\n", 1],
    ["realpath no/where", "", "realpath: no/where: No such file or directory\n", 1],
    ["realpath -m no/where", "/workspace/no/where\n"],
    ["ln -sfn src way; realpath way; realpath -s way; rm way", "/workspace/src\n/workspace/way\n"],
    ["realpath --relative-to=src /tmp/x args.py", "../../tmp/x\n../args.py\n"],
    ["realpath --relative-base=/workspace src /tmp", "src\n/tmp\n"],
    ["realpath --nonsense x", "", "realpath: unrecognized option '--nonsense'\n", 1],
    ["id -un; id -g; id", "user\n1000\nuid=1000(user) gid=1000(user) groups=1000(user)\n"],
    ["id -Z", "", "id: invalid option -- 'Z'\n", 1],
    ["uname -sm; uname -q", "Linux wasm32\n", "uname: invalid option -- 'q'\n", 1],
    ["mkdir -p /devel && echo x > /devel/f && ls /devel && rm -r /devel", "f\n"],
  ]);
});
