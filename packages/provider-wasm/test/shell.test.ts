import { createSandbox, type ExecOptions, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm({ diskMiB: 64 }), {});
  await sandbox.files.write("t.py", "import sys\nprint('py', sys.argv[1:], sys.stdin.read().strip())\n");
  await sandbox.files.write("data/a.txt", "one\ntwo\nthree\n");
  await sandbox.files.write("data/b c.txt", "four\n");
});
afterAll(() => sandbox.destroy());

/** Exit code, output and errors of a command line. */
async function run(
  command: string | readonly string[],
  options: ExecOptions = {},
): Promise<[number | null, string, string]> {
  const { exitCode, stdout, stderr } = await sandbox.exec(command, { timeoutMs: 30_000, ...options });
  return [exitCode, stdout.text, stderr.text];
}

describe("command lines", () => {
  const lines: readonly (readonly [command: string, stdout: string, exitCode?: number])[] = [
    ["ls data | grep txt | wc -l", "2\n"],
    ["cat data/*.txt | sort | head -n 2", "four\none\n"],
    ["grep -n t data/a.txt", "2:two\n3:three\n"],
    ["sed 's/o/0/g' data/a.txt | tr a-z A-Z", "0NE\nTW0\nTHREE\n"],
    ["awk '{ n += length($0) } END { print n }' data/a.txt", "11\n"],
    ["echo hi > out.txt; cat out.txt; echo more >> out.txt; wc -l < out.txt", "hi\n2\n"],
    ["cat <<EOF\n  kept $((1 + 1))\nEOF", "  kept 2\n"],
    ["cat <<'EOF'\n$HOME\nEOF", "$HOME\n"],
    ["x=$(printf abc); echo ${x^^} ${#x} ${x/b/-}", "ABC 3 a-c\n"],
    ['for f in data/*; do echo "[$f]"; done', "[data/a.txt]\n[data/b c.txt]\n"],
    ["false | true; echo $? ${PIPESTATUS[@]}", "0 1 0\n"],
    ["set -o pipefail; false | true", "", 1],
    ["set -e; echo a; false; echo b", "a\n", 1],
    ["false || echo other && exit 7", "other\n", 7],
    ["cd data && pwd; (cd /tmp; pwd); pwd", "/workspace/data\n/tmp\n/workspace/data\n"],
    ['f() { local x=$1; echo "f $x"; return 4; }; f 1; echo $?', "f 1\n4\n"],
    ["diff <(echo a) <(echo a) && echo same", "same\n"],
    ["find data -name '*.txt' | sort | xargs -I{} echo '<{}>'", "<data/a.txt>\n<data/b c.txt>\n"],
    ["ln -s a.txt data/link; readlink data/link; cat data/link | head -1; rm data/link", "a.txt\none\n"],
    ["mkdir -p deep/er && cp -r data deep/er/ && rm -r deep && ls -d deep 2>/dev/null || echo gone", "gone\n"],
    ["yes | head -n 2", "y\ny\n"],
    ["gzip -c data/a.txt | gunzip | head -1", "one\n"],
    ["python3 -m zipfile -c d.zip data && python3 -m zipfile -l d.zip | grep -c txt; rm d.zip", "2\n"],
    ["echo -n 'a b' | base64 | base64 -d; echo aGk= | base64 -d", "a bhi"],
    [
      "command -v git || echo no git; command -v ls; type curl 2>/dev/null || which curl || echo none",
      "no git\n/usr/bin/ls\nnone\n",
    ],
    ["ln -s nowhere gone; ln -s data way; rm gone way && ls -d gone way data 2>/dev/null", "data\n", 2],
    ["echo {1..99999} | wc -w; for i in {1..20000}; do :; done; echo $i", "99999\n20000\n"],
    ["braces=1; eval 'echo {1..100001}' | wc -w; echo none", "", 126],
    ["for i in {1..3000}; do x=a{1..100}; y=${x#a}; done; echo $i", "3000\n"],
    ["echo x > no/where; echo next", "next\n"],
    ["echo 1 & echo 2; wait", "1\n2\n"],
    ["echo '{\"a\": [1, 2]}' | jq -c '.a | map(. + 1)'", "[2,3]\n"],
    ["which ls python3; /bin/ls data | head -1", "/usr/bin/ls\n/usr/bin/python3\na.txt\n"],
    ['while read -r line; do echo "- $line"; done < data/a.txt', "- one\n- two\n- three\n"],
    ["echo $0 $#", "sh 0\n"],
    ["trap 'echo bye $?' EXIT; echo work; exit 3", "work\nbye 3\n", 3],
    ["clean() { echo cleaned $x; }; trap clean EXIT; x=1; true", "cleaned 1\n"],
    ["d=$(mktemp -d) && echo 1 > $d/f && cat $d/f", "1\n"],
    [
      "printf '#!/bin/bash\\necho script $1\\n' > s.sh; chmod +x s.sh; ./s.sh 2; bash s.sh 3; rm s.sh",
      "script 2\nscript 3\n",
    ],
    ["if [[ abc =~ ^a(.)c$ ]]; then echo ${BASH_REMATCH[1]}; fi", "b\n"],
    ["exec 3> fd.txt; echo x >&3; exec 3>&-; cat fd.txt; rm fd.txt", "x\n"],
    ["exec > all.txt; echo silent; exec 1>&2; cat all.txt >&2", ""],
    ["echo out; echo err >&2", "out\n"],
    ["uname -s; id -u; nproc", "Linux\n1000\n1\n"],
  ];
  for (const [command, stdout, exitCode = 0] of lines) {
    it(command, async () => {
      const [code, text, errors] = await run(command);
      expect([text, code], errors).toEqual([stdout, exitCode]);
    });
  }

  it("keep stdout and stderr apart, and join them where it is asked", async () => {
    expect(await run("echo out; echo err >&2; exit 5")).toEqual([5, "out\n", "err\n"]);
    expect((await run("echo a; echo b >&2; echo c", { mergeStderr: true }))[1]).toBe("a\nb\nc\n");
    expect(await run("ls nowhere 2>&1 >/dev/null | wc -l")).toEqual([0, "1\n", ""]);
  });

  it("take cwd, env and stdin as data", async () => {
    expect(await run('pwd; echo "$A"; cat', { cwd: "/tmp", env: { A: "a 'b' $(x)" }, stdin: "in ü\n" })).toEqual([
      0,
      "/tmp\na 'b' $(x)\nin ü\n",
      "",
    ]);
    await expect(sandbox.exec("true", { cwd: "/none" })).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("carry bytes exactly", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await sandbox.files.write("bytes", bytes);
    expect((await sandbox.exec("cat bytes")).stdout.bytes).toEqual(bytes);
    expect((await sandbox.exec("cat bytes | cat | gzip -c | gunzip")).stdout.bytes).toEqual(bytes);
    await sandbox.exec("cat > copied", { stdin: bytes });
    expect(await sandbox.files.read("copied")).toEqual(bytes);
    expect(
      (await sandbox.exec("cat bytes | python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())'"))
        .stdout.bytes,
    ).toEqual(bytes);
  });

  it("say what does not exist here, and why", async () => {
    expect(await run("nosuch")).toEqual([127, "", "bash: nosuch: command not found\n"]);
    expect(await run("curl http://localhost")).toEqual([
      127,
      "",
      'sandkit: curl: not available in WebAssembly: this sandbox has no network: create it with network: { allow: ["example.com"] }\n',
    ]);
    expect((await run("git status || echo none"))[1]).toBe("none\n");
    expect((await run("if then"))[0]).toBe(2);
  });

  it("stream output while they run", async () => {
    const seen: [string, number][] = [];
    const started = performance.now();
    await sandbox.exec(
      "for i in 1 2 3; do echo $i; sleep 0.4; done; python3 -c 'import time; print(4, flush=True); time.sleep(0.5)'",
      {
        onOutput: ({ bytes }) => void seen.push([Buffer.from(bytes).toString(), performance.now() - started]),
      },
    );
    expect(seen.map(([text]) => text).join("")).toBe("1\n2\n3\n4\n");
    expect(seen.length).toBeGreaterThanOrEqual(4);
    expect((seen[3]?.[1] ?? 0) - (seen[0]?.[1] ?? 0)).toBeGreaterThan(900);
  });
});

describe("programs of the sandbox", () => {
  it("are commands, with arguments, input, exit codes and files in common", async () => {
    expect(await run("ls -la | grep t.py && python3 t.py a 'b c'")).toEqual([
      0,
      expect.stringMatching(/t\.py\npy \['a', 'b c'\] \n$/),
      "",
    ]);
    expect((await run("echo in | python3 t.py | tr a-z A-Z"))[1]).toBe("PY [] IN\n");
    expect((await run("node -e 'console.log(1 + 1)' | cat"))[1]).toBe("2\n");
    expect((await run("python3 -c 'raise SystemExit(9)'; echo $?"))[1]).toBe("9\n");
    expect((await run("python3 -c 'import sys; print(1, file=sys.stderr)' 2>&1 | cat"))[1]).toBe("1\n");
    expect((await run("X=1 python3 -c 'import os; print(os.environ[\"X\"], os.getcwd())'"))[1]).toBe("1 /workspace\n");
    expect((await run("x=$(python3 -c 'print(3)'); echo $x"))[1]).toBe("3\n");
    expect((await run("python3 - <<'EOF'\nprint('from here')\nEOF"))[1]).toBe("from here\n");
    expect((await run('python3 -c \'print(open("made", "w").write("x"))\'; cat made'))[1]).toBe("1\nx");
    expect((await run('echo "print(5)" > p.py; python3 p.py > p.out; cat p.out'))[1]).toBe("5\n");
  });

  it("do not see what the shell uses inside", async () => {
    const [, names] = await run("python3 -c 'import os; print(sorted(os.environ))'");
    expect(names).not.toMatch(/sandkit/i);
  });

  it("take and give much without stopping one another", async () => {
    const command =
      "python3 -c 'print(\"x\" * 3_000_000)' | python3 -c 'import sys; d = sys.stdin.read(); print(len(d))'";
    expect((await run(command))[1]).toBe("3000001\n");
  });

  it("end with the shell, at its deadline", async () => {
    const result = await sandbox.exec("echo up; python3 -c 'while True: pass'; echo never", { timeoutMs: 3000 });
    expect(result).toMatchObject({ reason: "timeout", exitCode: null });
    expect(result.stdout.text).toBe("up\n");
    expect((await run("timeout 1 python3 -c 'import time; time.sleep(60)'; echo $?"))[1]).toBe("124\n");
  });
});

describe("argument lists", () => {
  it("run the usual tools without a shell looking at their arguments", async () => {
    expect(await run(["echo", "a  b", "$HOME", "*", "'"])).toEqual([0, "a  b $HOME * '\n", ""]);
    expect((await run(["grep", "-c", "", "data/b c.txt"]))[1]).toBe("1\n");
    expect((await run(["sh", "-c", 'echo $0 $1 "$2"', "name", "x", "y  z"]))[1]).toBe("name x y  z\n");
    expect(await run(["bash", "-euo", "pipefail", "-c", "echo a; false; echo b"])).toEqual([1, "a\n", ""]);
    await sandbox.files.write("script.sh", '#!/bin/bash\nset -e\necho "$0:$1:$#"\n');
    expect((await run(["bash", "script.sh", "one", "two"]))[1]).toBe("script.sh:one:2\n");
    expect(await run(["bash", "none.sh"])).toEqual([127, "", "bash: none.sh: No such file or directory\n"]);
    expect((await run(["sh"], { stdin: "echo from stdin\n" }))[1]).toBe("from stdin\n");
    expect((await run(["nosuch"]))[0]).toBe(127);
    expect((await run(["/workspace/script.sh"]))[0]).toBe(126);
  });
});
