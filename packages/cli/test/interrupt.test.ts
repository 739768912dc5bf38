import { describe, expect, it } from "vitest";
import { start } from "./sandkit.js";

describe.each(["wasm", "@sandkit/provider-local"])("Ctrl-C with --provider %s", (provider) => {
  const run = (code: string) => start(["run", "--provider", provider, "-e", code]);

  it("reaches the program, which may tidy up and choose its exit code", async () => {
    const { child, printed, outcome } = run(
      "import time\nprint('ready', flush=True)\ntry: time.sleep(60)\nexcept KeyboardInterrupt:\n print('tidied')\n raise SystemExit(3)",
    );
    await printed("ready");
    child.kill("SIGINT");
    expect(await outcome).toMatchObject({ code: 3, stdout: "ready\ntidied\n" });
  });

  it("gives 130 when the program does not handle it", async () => {
    const { child, printed, outcome } = run("print('ready', flush=True)\nwhile True: pass");
    await printed("ready");
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
  });

  it("kills a program that ignores it, the second time", async () => {
    const { child, printed, outcome } = run(
      "print('ready', flush=True)\nwhile True:\n try:\n  while True: pass\n except KeyboardInterrupt: print('no', flush=True)",
    );
    await printed("ready");
    child.kill("SIGINT");
    await printed("no");
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
  });

  it("ends the program with this process on SIGTERM", async () => {
    const { child, printed, outcome } = run("import time\nprint('ready', flush=True)\ntime.sleep(60)");
    await printed("ready");
    child.kill("SIGTERM");
    expect((await outcome).code).toBe(143);
  });

  it("gives 130 when nothing runs yet", async () => {
    const { child, outcome } = run("import time\ntime.sleep(60)");
    await new Promise((resolve) => setTimeout(resolve, 150));
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
  });
});

it("leaves no process behind", async () => {
  const code =
    "import os, subprocess, time\nchild = subprocess.Popen(['sleep', '60'], start_new_session=True)\nprint(os.getpid(), child.pid, flush=True)\ntime.sleep(60)";
  const { child, printed, outcome } = start(["run", "--provider", "@sandkit/provider-local", "-e", code]);
  await printed("\n");
  child.kill("SIGTERM");
  const { stdout } = await outcome;
  const pids = stdout.trim().split(" ").map(Number);
  expect(pids).toHaveLength(2);
  for (const pid of pids) expect(() => process.kill(pid, 0), `process ${pid}`).toThrow("ESRCH");
});
