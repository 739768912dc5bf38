import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  process.env.SANDKIT_TEST_SECRET = "host-secret";
  sandbox = await createSandbox(wasm({ warmWorkers: 0, memoryMiB: 256, diskMiB: 32 }), {});
  await sandbox.files.write("kept", "kept");
});
afterAll(() => sandbox.destroy());

const run = (command: string, timeoutMs = 20_000) => sandbox.exec(command, { timeoutMs, maxOutputBytes: 100_000 });

/** Whatever the script did, the sandbox and its files live, and so does the next command. */
async function survives(): Promise<void> {
  expect(await sandbox.files.readText("kept")).toBe("kept");
  expect((await run("echo $((1 + 1))")).stdout.text).toBe("2\n");
}

/** Limits of ours, each met by waiting for it: with SANDKIT_TEST_ALL=1 where `npm test` has much else to do. */
const isBrief = process.env.SANDKIT_TEST_ENGINE === "1" && process.env.SANDKIT_TEST_ALL !== "1";

describe.skipIf(isBrief)("scripts that never end", () => {
  const endless: readonly string[] = [
    "while true; do :; done",
    "while :; do echo y; done",
    "until false; do x=1; done",
    "for ((;;)); do :; done",
    "while true; do true; done | cat",
    "f() { while true; do f2; done; }; f2() { :; }; f",
    "awk 'BEGIN { while (1) x++ }'",
    "echo a | sed ':a; ba'",
    "jq -n 'def f: f; f'",
    "jq -n '[range(1000000000)]'",
    "seq 1000000000000 > /dev/null",
    "sleep 1000",
    "sleep 1000 & wait",
    "python3 -c 'while True: pass'",
    "python3 -c 'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass'",
    "node -e 'for (;;);'",
    "while true; do python3 -c 'pass'; done",
    "trap '' TERM INT EXIT; while true; do :; done",
    "trap 'while true; do :; done' EXIT; exit",
    "while true; do echo x >> fill; done",
    "while true; do x=$(echo $x); done",
    "timeout 1000 sh -c 'while true; do :; done'",
    "find / -exec sh -c 'while true; do :; done' \\;",
    "echo 'while true; do :; done' > loop.sh; bash loop.sh",
    "eval 'while true; do :; done'",
    "while true; do :; done <<< x &",
  ];
  it.each(endless)("end at the deadline: %s", async (command) => {
    // A program takes its time to begin.
    const result = await run(command, /python3|node/.test(command) ? 1000 : 500);
    // A limit may be met before.
    if (result.reason === "exited") expect(result.exitCode).not.toBe(0);
    else expect(["timeout", "oom"]).toContain(result.reason);
    await run("rm -f fill loop.sh");
    await survives();
  });
});

describe("bombs", () => {
  const bombs: readonly string[] = [
    "echo {1..1000000000}",
    "echo {1..100000}{1..100000}",
    "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
    "x=aaaaaaaa; while true; do x=$x$x; done",
    "a=(); while true; do a+=(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa); done",
    "printf '%1000000000d' 1",
    "printf '%*d' 2000000000 1",
    "f() { f; }; f",
    "f() { f | f; }; f",
    "f() { f & f & }; f",
    ":(){ :|:& };:",
    "f() { $(f); }; f",
    "f() { eval f; }; f",
    'f() { bash -c "$(declare -f f); f"; }; f',
    "echo 'bash \"$0\"' > self.sh; bash self.sh",
    "echo '. ./self.sh' > self.sh; . ./self.sh",
    "x='$x'; eval eval eval echo $x; x=x; echo $((x))",
    "x=y; y=x; echo $((x))",
    "declare -n a=b; declare -n b=a; echo $a",
    "alias a=a; shopt -s expand_aliases; a",
    `${"(".repeat(3000)}:${")".repeat(3000)}`,
    `${"$(".repeat(2000)}:${")".repeat(2000)}`,
    `echo $((${"(".repeat(20_000)}1${")".repeat(20_000)}))`,
    `echo ${"{".repeat(20_000)}a,b${"}".repeat(20_000)}`,
    `if ${"! ".repeat(20_000)}true; then :; fi`,
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | grep -E '^(a+)+$'",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | grep -P '^(a|a)*$'",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | sed -E 's/^(a|aa)+$//'",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | awk '/^(a*)*$/'",
    "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! =~ ^(a+)+$ ]]",
    "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo ${x//*a*a*a*a*a*a*a*a*b/}",
    "shopt -s extglob; [[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! == +(+(a)) ]]",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | jq -R 'test(\"^(a+)+$\")'",
    "awk 'BEGIN { x = \"x\"; while (1) x = x x }'",
    "awk 'function f() { return f() } BEGIN { f() }'",
    "jq -n '[limit(100000000; repeat(1))]'",
    "jq -n 'reduce range(1000000000) as $i (\"x\"; . + .)'",
    "echo $(cat /dev/zero)",
    "cat /dev/zero | head -c 10",
    "cat /dev/urandom > random",
    "head -c 100 < /dev/zero",
    "cat kept kept > grown; while true; do cat grown grown > twice; mv twice grown; done",
    "yes | yes | wc -l",
    "seq 1 100000000 | sort",
    "while true; do mkdir d; cd d; done",
    "i=0; while true; do echo > f$((i++)); done",
    "ln -s loop loop; cat loop; cd loop; ls -R loop/; find -L . -name x",
    "mkdir m; ln -s .. m/up; find -L m; grep -r x m; rm -r m",
    "head -c 1000000 /dev/zero | gzip | gunzip | wc -c; gunzip < kept",
    "python3 -c 'print(\"x\" * 200_000_000)' | wc -c",
    "python3 -c 'x = bytearray(10 ** 9)'",
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do python3 -c 'import time; time.sleep(60)' & done",
    "cat <<< $(printf 'x%.0s' {1..100000})$(printf 'y%.0s' {1..100000})",
    "sort <(sort <(sort <(sort /dev/zero)))",
    "echo $((2**62)) $((2**64)) $((2**10000)) $((10**10000)); x=$((1<<1000000)); echo $((9223372036854775807 + 1))",
    "echo $((1/0)); echo $((1%0)); let x=1/0; ((x = 5 / 0)); echo $((-9223372036854775808 / -1))",
    "for ((i = 0; i < 2**53; i += 1)); do :; done",
    "a[2**62]=1; a[9999999999]=1; echo ${#a[@]}; echo ${a[-99999]}; unset 'a[-1]'",
    "printf -v x '%100000000s' a; echo ${#x}; printf '%.*f' 1000000000 1; printf '%0*d' 100000000 1",
    "read -n 1000000000 x < /dev/zero; mapfile -n 0 x < /dev/zero; head -c 1000000000 /dev/zero | wc -c",
    'x=a; for i in {1..40}; do x="$x$x"; done; echo ${#x}',
    "x=$(printf 'a%.0s' {1..50000}); echo ${x//a/$x} | wc -c",
    `cat <<EOF${"\n$(cat <<E2\n".repeat(500)}x${"\nE2\n)\n".repeat(500)}EOF`,
    "cat <<EOF > doc\n$(yes | head -c 1000000)\nEOF\nwhile true; do cat <<EOF > twice\n$(cat doc doc)\nEOF\nmv twice doc; done",
    "mkdir -p g/a/a/a/a/a/a/a/a; shopt -s globstar; echo g/**/**/**/**/**/**/**/**/* | wc -c; echo /**/*/**/*/** | wc -c",
    "touch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo *a*a*a*a*a*a*a*a*a*a*a*b; ls *a*a*a*a*a*a*a*a*a*a*a*b",
    "seq 100000 | xargs -n1 -P 1000 echo | wc -l; seq 100 | xargs -P 100 -I{} sh -c 'while :; do :; done'",
    "for i in {1..60}; do python3 -c 'import time; time.sleep(60)' | cat & done; wait",
    "seq 60 | xargs -P 60 -I{} python3 -c 'import time; time.sleep(60)'",
    "timeout 100 timeout 100 timeout 100 sh -c 'while :; do :; done'; trap 'trap \"trap : EXIT; exit\" EXIT; exit' EXIT",
    "f() { trap f EXIT; exit; }; f",
    'trap \'sh -c "trap \\"while :; do :; done\\" EXIT"\' EXIT',
    "exec > out; cat out out > twice; while true; do cat out; done",
    "exec 3<> kept3; while true; do echo x >&3; done",
    "find / -exec find / -exec find / -exec find / -name x \\; \\; \\;",
    "diff <(seq 1 2 200000) <(seq 2 2 200000) | wc -l",
    "expr 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' : '\\(a*\\)*c'; echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | rg '^(a+)+$'",
    "tree /; du -a /; ls -R / | sort | uniq -c | sort -n | tail -1",
    "split -b 1 -a 6 twice; seq 200000 > s; split -l 1 -a 5 s",
    "tr a-z A-Z < /dev/zero; rev /dev/zero; tac /dev/urandom; nl /dev/zero; od /dev/zero | head",
  ];
  it.each(bombs)("end by a limit or at the deadline: %s", async (command) => {
    // Limits are met within a second or two; what meets none only burns the processor until then.
    const result = await run(command, 2000);
    expect(["exited", "timeout", "oom", "output_limit"]).toContain(result.reason);
    await run("cd /workspace && find . -mindepth 1 -maxdepth 1 ! -name kept -exec rm -rf {} +");
    await survives();
  });
});

describe("the host", () => {
  const attempts: readonly string[] = [
    "env; set; export -p; declare -p",
    "cat /etc/passwd /etc/hostname /proc/self/environ /proc/1/environ /proc/self/cmdline /proc/self/maps",
    "ls -laR / | head -500",
    "cat /workspace/../../../etc/passwd; cat ../../../../../../etc/passwd",
    "ln -s /etc/passwd p; cat p; ln -s / r; ls r/etc r/root r/work; cat r/etc/passwd",
    "ln -s /proc/self/environ e; cat e; echo x > e",
    "cat /dev/mem /dev/sda /dev/tty /dev/fd/3 /dev/fd/9; echo < /dev/tcp/127.0.0.1/22; exec 3<>/dev/tcp/127.0.0.1/22",
    "curl http://127.0.0.1; wget http://169.254.169.254; nc 127.0.0.1 22",
    "echo ${process.env} $(( process )) ${constructor} ${__proto__} ${toString}",
    "constructor; __proto__; toString; hasOwnProperty; valueOf",
    'awk \'BEGIN { print ENVIRON["SANDKIT_TEST_SECRET"]; system("cat /etc/passwd"); "id" | getline x; print x }\'',
    'awk \'BEGIN { print constructor, __proto__["x"]; __proto__["y"] = 1; a["__proto__"] = 1 }\'',
    'jq -n \'env, $ENV, input_filename, ("constructor" | ltrimstr("c")), {}.constructor, {}.__proto__\'',
    'jq -n \'{"__proto__": {"polluted": 1}} | .polluted, ([] | .polluted)?\'',
    "jq -n 'include \"/etc/passwd\"; .'; jq -n --slurpfile a /etc/passwd '$a'; jq -n --rawfile a /proc/self/environ '$a'",
    "sed 'r /etc/passwd' kept; sed 'w /etc/x' kept; sed 's/k/id/e' kept; echo kept | sed '1e id'",
    "find / -exec cat {} + 2>/dev/null | grep -a host-secret; grep -ra host-secret / 2>/dev/null",
    "tar cf - /etc /proc /root 2>/dev/null | wc -c; tar xf kept -C /; tar -P -cf x.tar ../../etc",
    "yq -n 'env(SANDKIT_TEST_SECRET)'; yq -n '!!js/function \"process\"'; yq -n 'load(\"/etc/passwd\")'",
    "xan --help; rg host-secret /; date -f /etc/passwd; sort -o /etc/x kept; split kept /etc/x; tee /etc/x < kept",
    "bash -c 'cat /etc/passwd'; env -i sh -c env; printenv SANDKIT_TEST_SECRET; history; help",
    "kill -9 1; kill -9 $PPID; kill -KILL -1; kill 0",
    "js-exec 'process'; js-exec -c 'require(\"fs\").readFileSync(\"/etc/passwd\")'; sqlite3 :memory: 'select load_extension(1)'",
    'python3 -c \'import os; print(dict(os.environ)); print(os.listdir("/")); print(open("/etc/passwd").read())\'',
    'node -e \'console.log(process.env, require("fs").readdirSync("/")); require("fs").readFileSync("/etc/passwd")\'',
    'printf \'%s\' "${!SANDKIT@}" "${!S*}"; compgen -v; compgen -A file /etc/',
    "echo ~root ~daemon ~+ ~-; cd ~root; source /etc/profile; . /root/.bashrc",
    "ulimit -a; umask; hostname; whoami; uname -a; id; w; last; mount; df",
    "echo x > /dev/.o; ls -la /dev/ /dev/.o* /dev/.e*; compgen -G '/dev/.*'",
  ];
  const pollution: readonly string[] = [
    "declare -A a; a[__proto__]=1; a[constructor]=2; a[toString]=3; echo ${a[__proto__]}${a[constructor]}${a[hasOwnProperty]} ${!a[@]}",
    "read __proto__ constructor <<< '1 2'; echo $__proto__ $constructor; printf -v __proto__ '%s' x; declare -n n=__proto__; n=y; echo $__proto__",
    "export __proto__=1 constructor=2 toString=3; env | grep -c =; sh -c 'echo $__proto__$constructor'; python3 -c 'import os; print(os.environ[\"__proto__\"])'",
    "env __proto__=1 constructor=2 sh -c 'echo $__proto__'; unset __proto__ constructor prototype; local __proto__=1",
    "alias __proto__=id constructor=id; __proto__; unalias __proto__; hash -p /bin/ls __proto__; type __proto__ constructor",
    "__proto__() { echo f; }; __proto__; constructor() { echo c; }; constructor; declare -f constructor; unset -f constructor",
    "set -o __proto__; shopt -s __proto__; shopt constructor; test -v __proto__; [[ -v constructor ]]; getopts __proto__ x",
    'jq -n \'[{"__proto__": 1}, {"constructor": {"prototype": {"x": 1}}}] | add, (.[0] * .[1]), (.[0] | keys, to_entries)\'',
    'jq -n \'{} | setpath(["__proto__", "x"]; 1), getpath(["constructor", "name"]), (.__proto__.x = 1), delpaths([["__proto__"]])\'',
    'jq -n \'reduce ["__proto__", "constructor"][] as $k ({}; .[$k] = 1), input_line_number, ("a" | test("__proto__")), $__proto__\'; jq -n --arg __proto__ 1 \'$__proto__\'',
    'jq -n \'def __proto__: 1; __proto__, ({} | has("__proto__")), (["x"] | group_by(.constructor)), $__loc__, env.__proto__\'',
    'awk \'BEGIN { __proto__ = 1; constructor = 2; a["__proto__"]["x"] = 1; for (k in a) print k; print ENVIRON["constructor"], length(a) }\'',
    'awk \'function constructor(x) { return x } BEGIN { print constructor(1); printf "%c %s", "__proto__", toString; getline x < "/etc/passwd"; print x }\'',
    "awk -v __proto__=1 -v constructor=2 'BEGIN { print __proto__, constructor, hasOwnProperty }'",
    "printf '__proto__ 1\\nconstructor 2\\n' > j; join j j; sort j | uniq -c; column -t j; cut -d' ' -f1 j; mkdir __proto__ constructor; ls -d *o*; rm -r j __proto__ constructor",
    "sed 's/x/\\u__proto__/;:constructor;t __proto__' <<< x; sed -n '/constructor/,/__proto__/p;b __proto__' <<< constructor",
    "date +%__proto__; date -d constructor; expr constructor : __proto__; seq __proto__; sleep __proto__; head -n __proto__ kept; printf %__proto__s",
    "find . -__proto__; find . -constructor x; ls --__proto__; grep --constructor x kept; xargs --__proto__; timeout --constructor 1 x; mktemp --hasOwnProperty",
    "timeout -s __proto__ 1 true; timeout 1__proto__ true; trap x __proto__ constructor; kill -constructor 1; id --toString; realpath --valueOf x; bash -o __proto__ -c :",
    "kill -9 $$; kill -TERM -- -1; kill -s KILL 1 2 3; timeout -s KILL 1 kill -9 $PPID; exec kill -9 1",
    "echo ${a[constructor]} ${#__proto__} ${__proto__:-x} ${!__proto__} ${__proto__@A} ${constructor//o/x}; echo $((__proto__ + constructor)) $((a[toString]))",
    "cd __proto__; pushd constructor; . __proto__; source constructor; exec __proto__; command constructor; builtin __proto__; help constructor; which __proto__",
  ];
  it.each(pollution)("has no prototype that a script changes: %s", async (command) => {
    const { stdout, stderr, reason } = await run(command);
    expect(reason).toBe("exited");
    const said = stdout.text + stderr.text;
    expect(said).not.toMatch(
      /\[native code\]|\[object |function \w*\(|=>|is not a function|Cannot (?:read|set)|undefined \(/,
    );
    expect(said).not.toMatch(/root:x:0:0|host-secret|at .*\.m?js:\d/);
    const after =
      "declare -A m; echo [${m[x]}${m[polluted]}] $((y)); jq -nc '{}'; awk 'BEGIN { print length(a) }'; echo $x";
    expect((await run(after)).stdout.text).toBe("[] 0\n{}\n0\n\n");
    await survives();
  });

  it.each(attempts)("is not reached: %s", async (command) => {
    const { stdout, stderr } = await run(command);
    const said = stdout.text + stderr.text;
    expect(said).not.toContain("host-secret");
    expect(said).not.toMatch(/root:x:0:0|daemon:|\/work\/|node_modules|file:\/\/|at .*\.m?js:\d/);
    expect(said).not.toContain(process.version);
    await run("rm -rf p r e x.tar x");
    await survives();
  });
});

describe.skipIf(isBrief)("many shells", () => {
  it("take their turns, with the programs that they start, and leave nothing", async () => {
    const runs = Array.from({ length: 20 }, (_, index) =>
      run(`echo ${index}; python3 -c 'print(${index} * 2)'`, 60_000),
    );
    const results = await Promise.all(runs);
    expect(results.map(({ stdout }) => stdout.text)).toEqual(runs.map((_, index) => `${index}\n${index * 2}\n`));
  }, 90_000);

  it("leave no program behind, however they end", async () => {
    const small = await createSandbox(wasm({ maxConcurrentExec: 1, warmWorkers: 0 }), {});
    await small.files.write("wait.py", "import time\nprint('began', flush=True)\ntime.sleep(600)\n");
    // The one place for programs is free again each time.
    for (const [command, timeoutMs] of [
      ["timeout 2 python3 wait.py", 60_000],
      ["timeout -s KILL 2 python3 wait.py", 60_000],
      ["python3 wait.py", 2000],
      ["python3 wait.py | cat", 2000],
      ["seq 3 | xargs -P 3 -I{} python3 wait.py", 2000],
      ["x=$(python3 wait.py)", 2000],
    ] as const) {
      await small.exec(command, { timeoutMs });
      const { stdout } = await small.exec("python3 -c 'print(1)'; echo 2", { timeoutMs: 60_000 });
      expect([command, stdout.text]).toEqual([command, "1\n2\n"]);
    }
    await small.destroy();
  }, 180_000);

  it("do not see what the ones before them set", async () => {
    await run("export LEAK=1; leak() { echo 1; }; alias ll=ls; cd /tmp; set -f; trap 'echo 2' EXIT; umask 077");
    const { stdout } = await run('echo "[$LEAK]" "$PWD" kep*; leak; umask; trap');
    expect(stdout.text).toBe("[] /workspace kept\n0022\n");
  });
});
