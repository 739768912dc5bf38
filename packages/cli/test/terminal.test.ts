import { expect, it } from "vitest";
import { atTerminal } from "./at-terminal.js";
import { bin } from "./sandkit.js";

const runAtTerminal = (args: readonly string[]) => atTerminal([process.execPath, bin, "run", ...args]);

it.each(["wasm", "@sandkit/provider-local"])(
  "with --provider %s what Python prints is seen at once",
  async (provider) => {
    const code = "import time\nprint('first')\ntime.sleep(60)";
    const { child, ended, shows } = runAtTerminal(["--provider", provider, "-e", code]);
    await shows("first");
    child.stdin.write("\u0003");
    expect(await ended).toEqual({ code: 130, told: "restored" });
  },
);

it("says how to end a program that ignores Ctrl-C", async () => {
  const code =
    "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: None)\nprint('first')\nwhile True: time.sleep(1)";
  const { child, ended, shows } = runAtTerminal(["--provider", "@sandkit/provider-local", "-e", code]);
  await shows("first");
  child.stdin.write("\u0003");
  await shows("still running; Ctrl-C again kills it");
  child.stdin.write("\u0003");
  expect(await ended).toEqual({ code: 130, told: "restored" });
});
