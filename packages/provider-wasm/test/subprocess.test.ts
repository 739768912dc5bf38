import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm(), {});
  await sandbox.files.write("data.txt", "one\ntwo\n");
  await sandbox.runCode("import os, subprocess, sys, time");
});
afterAll(() => sandbox.destroy());

/** The value of a cell; what it said where it failed. */
async function value(code: string): Promise<unknown> {
  const cell = await sandbox.runCode(code, { timeoutMs: 30_000 });
  return cell.error ? `${cell.error.name}: ${cell.error.message}` : cell.value;
}

describe("commands in cells", () => {
  it("run in the shell, and their output is the cell's", async () => {
    const cell = await sandbox.runCode("name = 'data.txt'\n!wc -l < {name}; ls $name >&2; exit 3\n_exit_code");
    expect([cell.error, cell.stdout.text, cell.stderr.text, cell.value]).toEqual([undefined, "2\n", "data.txt\n", 3]);
    expect(await value("lines = !sort -r data.txt\nlines")).toEqual(["two", "one"]);
    expect((await sandbox.runCode("%%bash\nx=1\nfor i in a b; do echo $i$x; done")).stdout.text).toBe("a1\nb1\n");
    expect((await sandbox.runCode("%%sh\nexit 4")).error?.name).toBe("CalledProcessError");
    expect(await value("%cd /tmp\n!pwd > here\nout = !cat here\n%cd /workspace\nout")).toEqual(["/tmp"]);
  });

  it("are ended by an interrupt, with the state kept", async () => {
    const kernel = await sandbox.kernel({ language: "python", id: "patient" });
    await kernel.run("precious = 42");
    const cell = await kernel.run("!echo begun; sleep 600; echo after", {
      onOutput: () => void kernel.interrupt(),
    });
    expect(cell).toMatchObject({ error: { name: "KeyboardInterrupt" }, stateLost: false, stdout: { text: "begun\n" } });
    expect((await kernel.run("precious")).value).toBe(42);
  });
});

describe("subprocess", () => {
  it.each([
    ["run with a list", "subprocess.run(['echo', 'a b', '$HOME'], capture_output=True).stdout.decode()", "a b $HOME\n"],
    [
      "run with a shell",
      "subprocess.run('echo $((1+1)) | rev', shell=True, capture_output=True, text=True).stdout",
      "2\n",
    ],
    ["Python", "subprocess.check_output([sys.executable, '-c', 'print(6*7)'], text=True)", "42\n"],
    ["Node", "subprocess.check_output(['node', '-p', '6*7'], text=True)", "42\n"],
    ["the exit code", "subprocess.run(['sh', '-c', 'exit 7']).returncode", 7],
    ["a signal", "subprocess.run([sys.executable, '-c', 'import os; os.kill(os.getpid(), 15)']).returncode", -15],
    [
      "input",
      "subprocess.run(['tr', 'a-z', 'A-Z'], input='äbc', capture_output=True, text=True).stdout",
      "äBC\n".trim(),
    ],
    [
      "binary",
      "subprocess.run(['cat'], input=bytes(range(256)), capture_output=True).stdout == bytes(range(256))",
      true,
    ],
    [
      "stderr as stdout",
      "subprocess.run('echo a; echo b >&2', shell=True, stdout=-1, stderr=-2).stdout.decode()",
      "a\nb\n",
    ],
    [
      "cwd and env",
      "subprocess.check_output('pwd; echo $X', shell=True, cwd='/tmp', env={'X': 'y'}, text=True)",
      "/tmp\ny\n",
    ],
    ["getoutput", "subprocess.getoutput('cat data.txt')", "one\ntwo"],
    ["os.popen", "os.popen('head -n 1 data.txt').read()", "one\n"],
    ["os.system", "os.waitstatus_to_exitcode(os.system('exit 5'))", 5],
    [
      "a file as output",
      "subprocess.run('echo x', shell=True, stdout=open('/tmp/out', 'w')) and open('/tmp/out').read()",
      "x\n",
    ],
    [
      "a file as input",
      "subprocess.run(['wc', '-l'], stdin=open('data.txt'), capture_output=True, text=True).stdout",
      "2\n",
    ],
    ["no output", "subprocess.run('echo x; echo y >&2', shell=True, stdout=-3, stderr=-3).returncode", 0],
  ])("%s", async (_, code, expected) => {
    expect(await value(code)).toEqual(expected);
  });

  it("fails as it does elsewhere", async () => {
    expect(await value("subprocess.run('exit 3', shell=True, check=True)")).toMatch(
      /^CalledProcessError: .*exit status 3/,
    );
    expect(await value("subprocess.run(['ls'], cwd='/nowhere')")).toMatch(/^FileNotFoundError: .*'\/nowhere'/);
    expect(await value("subprocess.run(['ls'], preexec_fn=print)")).toMatch(/^OSError: .*preexec_fn is not available/);
    expect(await value("subprocess.run(['git', '--version'])")).toMatch(/^FileNotFoundError: .*'git'/);
    expect(await value("subprocess.run(['./data.txt'])")).toMatch(/^PermissionError: /);
    expect(await value("subprocess.run('git', shell=True, stderr=-3).returncode")).toBe(127);
    const timeout = `
p = subprocess.Popen([sys.executable, '-uc', 'print(1); import time; time.sleep(600)'], stdout=-1)
p.stdout.peek()
try: p.communicate(timeout=0.2)
except subprocess.TimeoutExpired as e: told = [e.timeout, p.poll()]
p.kill()
[*told, p.communicate()[0].decode(), p.returncode]`;
    expect(await value(timeout)).toEqual([0.2, null, "1\n", -9]);
  });

  it("gives a program that runs beside, and its output as it comes", async () => {
    const code = `
p = subprocess.Popen([sys.executable, '-u', '-c', 'for _ in range(2): print(input()[::-1])'], stdin=-1, stdout=-1, text=True)
seen = [p.poll()]
for word in ('abc', 'def'):
    p.stdin.write(word + '\\n'); p.stdin.flush()
    seen.append(p.stdout.readline())
seen + [p.wait(), p.poll(), isinstance(p, subprocess.Popen)]`;
    expect(await value(code)).toEqual([null, "cba\n", "fed\n", 0, 0, true]);
  });

  it("goes on from cell to cell, and can be ended", async () => {
    await sandbox.runCode("p = subprocess.Popen(['sleep', '60'])");
    expect(await value("[p.poll(), p.terminate(), p.wait(), p.returncode]")).toEqual([null, null, -15, -15]);
  });

  it("moves more than fits on the way, both ways at once", async () => {
    const code = `
data = os.urandom(3_000_000)
p = subprocess.run([sys.executable, '-c', 'import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)'], input=data, capture_output=True)
[p.returncode, p.stdout == data, p.stderr.decode()]`;
    expect(await value(code)).toEqual([0, true, ""]);
  });

  it("ends with the program that started it", async () => {
    const code = "import subprocess; subprocess.Popen(['sh', '-c', 'sleep 2; echo late > late.txt']); print('done')";
    expect((await sandbox.exec(["python3", "-c", code])).stdout.text).toBe("done\n");
    const killed = await sandbox.exec(["python3", "-c", code.replace("print('done')", "import time; time.sleep(60)")], {
      timeoutMs: 1000,
    });
    expect(killed.reason).toBe("timeout");
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await expect(sandbox.files.stat("late.txt")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("is refused where too many run, and never waits for its own", async () => {
    const bomb = `
import subprocess, sys
depth = int(sys.argv[1])
try: sys.exit(subprocess.run([sys.executable, __file__, str(depth + 1)]).returncode)
except BlockingIOError as e: print(depth, e.strerror); sys.exit(9)`;
    await sandbox.files.write("bomb.py", bomb);
    const result = await sandbox.exec(["python3", "bomb.py", "0"], { timeoutMs: 60_000 });
    expect(result).toMatchObject({ exitCode: 9, stdout: { text: "8 Resource temporarily unavailable\n" } });
    const many = `
started = []
try:
    for n in range(40): started.append(subprocess.Popen(['sleep', '60']))
except BlockingIOError: count = len(started)
for p in started: p.kill(); p.wait()
[count, subprocess.run(['true']).returncode]`;
    expect(await value(many)).toEqual([8, 0]);
    const forgotten =
      "for n in range(40): subprocess.Popen(['true']).wait()\n[subprocess.Popen(['true']).wait() for n in range(40)].count(0)";
    expect(await value(forgotten)).toBe(40);
  }, 120_000);
});
