import { spawn } from "node:child_process";
import { expect, it } from "vitest";
import { bin, environment } from "./sandkit.js";

/** Gives a command a terminal of its own; what is typed comes by stdin. */
const terminal = "import pty, sys; raise SystemExit(pty.spawn(sys.argv[1:]) >> 8)";

function atTerminal(args: readonly string[]) {
  const child = spawn("python3", ["-c", terminal, process.execPath, bin, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: environment,
  });
  let shown = "";
  child.stdout.on("data", (piece: Buffer) => (shown += piece.toString()));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const shows = async (text: string) => {
    while (!shown.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended before it showed ${text}: ${shown}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, ended, shows, shown: () => shown };
}

it.each(["wasm", "@sandkit/provider-local"])(
  "with --provider %s what Python prints is seen at once",
  async (provider) => {
    const code = "import time\nprint('first')\ntime.sleep(60)";
    const { child, ended, shows } = atTerminal(["run", "--provider", provider, "-e", code]);
    await shows("first");
    child.stdin.write("\u0003");
    expect(await ended).toBe(130);
  },
);

it("says how to end a program that ignores Ctrl-C", async () => {
  const code =
    "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: None)\nprint('first')\nwhile True: time.sleep(1)";
  const { child, ended, shows } = atTerminal(["run", "--provider", "@sandkit/provider-local", "-e", code]);
  await shows("first");
  child.stdin.write("\u0003");
  await shows("still running; Ctrl-C again kills it");
  child.stdin.write("\u0003");
  expect(await ended).toBe(130);
});
