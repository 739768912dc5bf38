import { setTimeout as pause } from "node:timers/promises";
import { createSandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { type LocalOptions, local } from "../src/index.js";

const family = `
import os, signal
stopped = 0
def look(*_):
    global stopped
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        if not pid:
            return
        stopped += os.WIFSTOPPED(status)
def end(*_):
    print(stopped, flush=True)
    os._exit(0)
for _ in range(60):
    if os.fork() == 0:
        signal.pause()
signal.signal(signal.SIGCHLD, look)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True:
    signal.pause()
`;

const ways: readonly LocalOptions[] = [{}, { agent: "python" }, { agent: "node" }];

// A parent may take a child that stands still for one that somebody else has stopped, as our own agent does.
it.each(ways)(
  "no parent sees a child that stands still while its whole tree is stopped and goes on: %o",
  async (way) => {
    await using sandbox = await createSandbox(local(way));
    const process = await sandbox.spawn(["python3", "-c", family]);
    for await (const piece of process.stdout) if (Buffer.from(piece).includes("\n")) break;
    for (let round = 0; round < 3; round++) {
      // So that it waits for something to happen, and does not look just then.
      await pause(100);
      await process.kill("SIGSTOP");
      await process.kill("SIGCONT");
    }
    await process.kill("SIGTERM");
    expect((await process.wait()).stdout.text).toBe("ready\n0\n");
  },
);
