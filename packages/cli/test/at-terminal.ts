import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { environment } from "./sandkit.js";

const terminal = fileURLToPath(new URL("at-terminal.py", import.meta.url));

/** A command at a terminal of its own. `told`: how it left that. */
export function atTerminal(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn("python3", [terminal, ...command], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...environment, ...env },
  });
  let shown = "";
  let told = "";
  child.stdout.on("data", (piece: Buffer) => (shown += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (told += piece.toString()));
  // One that a failed test leaves would wait for ever, and with it the test.
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<{ readonly code: number | null; readonly told: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, told: told.trim() })),
  );
  const shows = async (text: string | RegExp) => {
    while (typeof text === "string" ? !shown.includes(text) : !text.test(shown)) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`ended before it showed ${text}: ${shown}${told}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, ended, shows, shown: () => shown, types: (keys: string) => child.stdin.write(keys) };
}
