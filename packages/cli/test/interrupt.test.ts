import { describe, expect, it } from "vitest";
import { type Running, start } from "./sandkit.js";

/** What a terminal does at Ctrl-C: every process of the foreground group gets the signal. */
function pressCtrlC({ child }: Running): void {
  process.kill(-(child.pid ?? Number.NaN), "SIGINT");
}

describe.each(["wasm", "@sandkit/provider-local"])("Ctrl-C with --provider %s", (provider) => {
  const run = (code: string) => start(["run", "--provider", provider, "-e", code]);

  it("reaches the program, which may tidy up and choose its exit code", async () => {
    const running = run(
      "import time\ntry:\n print('ready', flush=True)\n time.sleep(60)\nexcept KeyboardInterrupt:\n print('tidied')\n raise SystemExit(3)",
    );
    await running.printed("ready");
    pressCtrlC(running);
    expect(await running.outcome).toMatchObject({ code: 3, stdout: "ready\ntidied\n" });
  });

  it("gives 130 when the program does not handle it", async () => {
    const running = run("print('ready', flush=True)\nwhile True: pass");
    await running.printed("ready");
    pressCtrlC(running);
    expect((await running.outcome).code).toBe(130);
  });

  it("kills a program that ignores it, the second time", async () => {
    const running = run(
      "import time\nwhile True:\n try:\n  print('ready', flush=True)\n  time.sleep(60)\n except KeyboardInterrupt: print('no', flush=True)",
    );
    await running.printed("ready");
    pressCtrlC(running);
    await running.printed("no");
    pressCtrlC(running);
    expect((await running.outcome).code).toBe(130);
  });

  it("ends the program with this process on SIGTERM", async () => {
    const { child, printed, outcome } = run("import time\nprint('ready', flush=True)\ntime.sleep(60)");
    await printed("ready");
    child.kill("SIGTERM");
    expect((await outcome).code).toBe(143);
  });

  it("gives 130 when nothing runs yet", async () => {
    const running = run("import time\ntime.sleep(60)");
    await new Promise((resolve) => setTimeout(resolve, 150));
    pressCtrlC(running);
    expect((await running.outcome).code).toBe(130);
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
