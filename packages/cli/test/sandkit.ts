import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** The built program, as npm installs it. */
export const bin = fileURLToPath(new URL("../bin/sandkit.js", import.meta.url));

/** What one command line did. */
export interface Outcome {
  /** As a shell has it: 128 and the signal's number for one that was ended by a signal. */
  readonly code: number;
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  readonly stderr: string;
}

/** A command line that runs. */
export interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly outcome: Promise<Outcome>;
  /** Resolves once stdout holds the text. */
  readonly printed: (text: string) => Promise<void>;
  /** Resolves once stderr holds the text. */
  readonly told: (text: string) => Promise<void>;
  /** What is on stderr so far. */
  readonly stderr: () => string;
}

/** This machine's environment without what would steer sandkit: settings of the user, colour. */
export const environment: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^SANDKIT_|^(NO|FORCE)_COLOR$/.test(name) ? [] : [[name, value]],
    ),
  ),
  XDG_CONFIG_HOME: "/nonexistent",
  SANDKIT_ALLOW_LOCAL: "1",
};

/** Starts `sandkit`. */
export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [bin, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    // A process group of its own, as a shell gives it.
    detached: true,
    env: { ...environment, ...env },
  });
  const pieces: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) => {
      const stdoutBytes = Buffer.concat(pieces);
      const code = exitCode ?? 128 + (constants.signals[signal ?? "SIGKILL"] ?? 0);
      resolve({ code, stdout: stdoutBytes.toString(), stdoutBytes, stderr });
    });
  });
  const until = async (text: string, seen: () => string) => {
    while (!seen().includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before it said ${text}: ${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const printed = (text: string) => until(text, () => Buffer.concat(pieces).toString());
  const told = (text: string) => until(text, () => stderr);
  return { child, outcome, printed, told, stderr: () => stderr };
}

/** Runs `sandkit` to its end with this on stdin. */
export async function sandkit(args: readonly string[], stdin: string | Uint8Array = ""): Promise<Outcome> {
  const { child, outcome } = start(args);
  // A program that ends without reading closes the pipe.
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  return await outcome;
}
