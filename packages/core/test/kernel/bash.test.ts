import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunningKernel } from "./running-kernel.js";

describe("bash kernel", () => {
  let kernel: RunningKernel;
  beforeAll(async () => {
    kernel = await RunningKernel.start({ language: "bash", cwd: "/tmp" });
  });
  afterAll(() => kernel[Symbol.asyncDispose]());

  /** Exit code and both outputs of a cell. */
  async function run(code: string) {
    const { exitCode, stdout, stderr, died } = await kernel.run(code);
    expect(died).toBeUndefined();
    return [exitCode, stdout, stderr];
  }

  it("keeps variables, arrays, functions, aliases, options and the directory", async () => {
    await run("kept=21\ndeclare -A map=([a]=1)\ndouble() { echo $(($1 * 2)); }\nalias hi='echo hello'\ncd /usr");
    expect(await run("double $kept; declare -p map; hi; pwd")).toEqual([
      0,
      '42\ndeclare -A map=([a]="1" )\nhello\n/usr\n',
      "",
    ]);
  });

  it("gives the exit code of the last command, which the next cell sees", async () => {
    expect(await run("echo before; false")).toEqual([1, "before\n", ""]);
    expect(await run("echo $?")).toEqual([0, "1\n", ""]);
    expect((await run("no-such-program"))[0]).toBe(127);
  });

  it("ends the cell alone at exit, in functions and loops too", async () => {
    expect(await run("echo a; exit 3; echo b")).toEqual([3, "a\n", ""]);
    expect(await run("f() { local kept=9; exit 4; }; while true; do f; done; echo b")).toEqual([4, "", ""]);
    expect(await run("(exit 5); echo $? $kept; x=$(exit 6); exit")).toEqual([6, "5 21\n", ""]);
    expect((await run("exit nonsense"))[0]).toBe(2);
  });

  it("ends the cell alone at a failure under set -e, which stays on", async () => {
    expect(await run("set -e; if false; then :; fi; false || echo a; f() { return 7; }; f; echo b")).toEqual([
      7,
      "a\n",
      "",
    ]);
    expect(await run("echo a; (false; echo b); echo c")).toEqual([1, "a\n", ""]);
    expect(await run("trap 'echo trapped $?' ERR; (exit 3); echo c")).toEqual([1, "trapped 3\n", ""]);
    expect(await run("trap - ERR; set +e; false; echo $kept")).toEqual([0, "21\n", ""]);
  });

  it("ends the line alone at an unset variable under set -u, and the cell at a syntax error", async () => {
    expect(await run("set -u; echo a; echo $nothing; echo b")).toEqual([
      1,
      "a\n",
      expect.stringContaining("nothing: unbound variable"),
    ]);
    expect(await run("set +u; echo $kept")).toEqual([0, "21\n", ""]);
    const [code, stdout, stderr] = await run("echo a\nif then; echo 'b");
    expect([code === 0, stdout, stderr]).toEqual([false, "a\n", expect.stringContaining("line 2: syntax error")]);
  });

  it("ends the cell alone at an unset variable under set -eu, with all that it had defined", async () => {
    const define = [
      "set -euo pipefail",
      "kept=21 line=$'a\\nb'; declare -A map=([a]='x y'); declare -ir number=4; export SHOWN=1",
      "double() { echo $(($1 * 2)); }; alias hi='echo hello'; cd /usr; umask 027; shopt -s extglob",
      "match() { [[ $1 == @(a|b) ]] && echo matched; }; trap 'echo usr1' USR1; trap 'echo never' EXIT",
      'inner() { local kept=9 mine=1; echo in; echo "$nothing"; echo no; }; outer() { local kept=8; inner; }',
    ].join("\n");
    const descriptors = await run("sh -c 'ls /proc/self/fd'");
    expect(await run(define)).toEqual([0, "", ""]);
    const unset = [1, "", expect.stringContaining("nothing: unbound variable")];
    expect(await run("outer >/tmp/sandkit-bash-test; echo no")).toEqual(unset);
    expect(await run("cat /tmp/sandkit-bash-test; rm /tmp/sandkit-bash-test")).toEqual([0, "in\n", ""]);
    expect(await run('set +u; echo $kept "$mine" "$line" "$(declare -p map)"; double $number; hi; pwd; umask')).toEqual(
      [0, '21  a\nb declare -A map=([a]="x y" )\n8\nhello\n/usr\n0027\n', ""],
    );
    expect(await run("match b; kill -USR1 $$; env | grep -cE '^(SHOWN|PROMPT_COMMAND)='; (exit 3); echo no")).toEqual([
      3,
      "matched\nusr1\n1\n",
      "",
    ]);
    expect(await run("set -u -- p 'q r'; echo \"$nothing\"")).toEqual(unset);
    expect(await run('echo "$# $2"')).toEqual([0, "2 q r\n", ""]);
    expect(await run("sh -c 'ls /proc/self/fd'")).toEqual(descriptors);
    expect(await run("set +eu; set +o pipefail; trap - EXIT USR1; builtin exit 5")).toEqual([5, "", expect.anything()]);
    expect(await run("echo $- | grep -c '[eu]'; double $kept")).toEqual([0, "0\n42\n", ""]);
  });

  it("is interrupted with its state kept", async () => {
    for (const code of [
      "echo on; sleep 50; echo after",
      "echo on; while :; do :; done",
      "echo on; cat /dev/zero >/dev/null",
    ]) {
      const cell = await kernel.interrupted(code);
      expect([cell.exitCode, cell.stdout, cell.stderr.trim(), cell.died]).toEqual([130, "on\n", "", undefined]);
    }
    expect(await run("echo $kept")).toEqual([0, "21\n", ""]);
  });

  it("is not hit by an interrupt that comes between cells", async () => {
    for (let turn = 0; turn < 50; turn++) {
      const cell = kernel.run(turn % 2 ? ":" : "sleep 0.001");
      await kernel.kernel.interrupt();
      expect((await cell).died).toBeUndefined();
      expect(await run("echo $kept")).toEqual([0, "21\n", ""]);
    }
  });

  it("lets background programs live on, also through an interrupt", async () => {
    const [code, pid] = await run("sleep 50 & echo $!; sleep 0.2");
    expect(code).toBe(0);
    await kernel.interrupted("echo on; sleep 50");
    expect(await run(`kill -0 ${String(pid).trim()} && echo alive; kill %1`)).toEqual([0, "alive\n", ""]);
  });

  it("speaks of jobs and of itself no more than a script would", async () => {
    expect(await run("sleep 0.01 & wait; sleep 50 & kill %1; wait %1; sh -c 'kill -9 $$'")).toEqual([137, "", ""]);
    expect(await run("set -x; echo a")).toEqual([0, "a\n", "++++ echo a\n"]);
    expect(await run("echo b; set +x")).toEqual([0, "b\n", "++++ echo b\n++++ set +x\n"]);
  });

  it("gives programs no input and no descriptor of ours", async () => {
    expect(await run("cat; read line; echo $?")).toEqual([0, "1\n", ""]);
    expect(await run("sh -c 'ls -l /proc/self/fd' | grep -c pipe")).toEqual([
      0,
      expect.stringMatching(/^[123]\n$/),
      "",
    ]);
  });

  it("goes on with functions and aliases in the place of what it is made of", async () => {
    await using shadowed = await RunningKernel.start({ language: "bash" });
    const names = "printf echo exec eval local return kill read compgen . source [ test true";
    const cell = `kept=1; for name in ${names}; do builtin eval "$name() { builtin printf shadow; }"; done`;
    expect(await shadowed.run(`alias eval='nope' .='nope' printf='nope'; ${cell}`)).toMatchObject({ exitCode: 0 });
    expect(await shadowed.run("builtin echo $kept; exit 3")).toMatchObject({ exitCode: 3, stdout: "1\n" });
    expect(await shadowed.run("builtin set -eu; builtin echo $nothing")).toMatchObject({ exitCode: 1 });
    expect(await shadowed.run("builtin echo $kept; echo")).toMatchObject({ exitCode: 0, stdout: "1\nshadow" });
  });

  it("takes any text as it is", async () => {
    const text = 'it\'s "grüße" \\n $HOME `x` 🐚\n\ttab';
    expect(await run(`cat <<'END'\n${text}\nEND`)).toEqual([0, `${text}\n`, ""]);
    expect(await run(`text='${"0123456789".repeat(20_000)}'; echo \${#text}`)).toEqual([0, "200000\n", ""]);
  });

  it("dies when it replaces itself", async () => {
    expect(await kernel.run("echo last; exec sh -c 'exit 3'")).toMatchObject({
      died: "crashed",
      exitCode: null,
      stdout: "last\n",
    });
  });
});
