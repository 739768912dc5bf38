import { exitStatus, type Process, type Sandbox, SandboxError } from "@sandkit/core";
import type { Invocation } from "../command.js";
import { CommandError } from "../command-error.js";
import { reportError } from "../report-error.js";
import { placeOf } from "./exec-live.js";
import { connect, referenceOf } from "./find-sandbox.js";
import { guestScript } from "./guest-script.js";
import { LeaveKeys } from "./leave-keys.js";
import { RawTerminal } from "./raw-terminal.js";

/** `sandkit shell`: a terminal in a living sandbox; resolves with the exit code of the shell. */
export async function openShell(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const reference = referenceOf(invocation, "sandkit shell REF");
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandError("INVALID", 2, "a shell needs a terminal for its input and its output", [
      { text: "without one, run commands", command: `sandkit exec ${reference} sh -c 'COMMANDS'` },
    ]);
  }
  const { sandbox } = await connect(values, reference);
  const { env, ...place } = placeOf(invocation);
  const command = await shellOf(sandbox, env?.PS1);
  const terminal = new RawTerminal();
  const { TERM = "xterm-256color", COLORTERM } = process.env;
  try {
    const shell = await sandbox.spawn(command, {
      ...place,
      env: { TERM, ...(COLORTERM !== undefined && { COLORTERM }), ...env },
      pty: terminal.size,
      // Of all that passes nothing is kept.
      maxOutputBytes: 0,
      onOutput: ({ bytes }) => terminal.write(bytes),
    });
    return await serve(shell, terminal);
  } catch (error) {
    terminal.restore(true);
    if (!(error instanceof SandboxError) || error.code === "INVALID") throw error;
    reportError(error, false);
    return 125;
  } finally {
    terminal.restore(false);
  }
}

/** Bash where there is one; with a prompt that needs no name of its user. */
async function shellOf(sandbox: Sandbox, prompt = "sandkit:$PWD$ "): Promise<readonly string[]> {
  const { shells } = await sandbox.info();
  const shell = ["bash", "sh"].find((name) => shells.includes(name));
  if (shell !== undefined) return [shell, "-c", guestScript("shell.sh"), shell, prompt];
  throw new SandboxError("UNSUPPORTED", "the sandbox has no shell: take an image that has one", {
    provider: sandbox.ref.provider,
    operation: "shell",
  });
}

async function serve(shell: Process, terminal: RawTerminal): Promise<number> {
  let left: number | undefined;
  const leave = (exitCode: number) => {
    left ??= exitCode;
    // The shell is of no use without its terminal; what it has put aside goes on.
    shell.kill("SIGHUP").catch(() => undefined);
    terminal.close();
  };
  const keys = new LeaveKeys();
  terminal.start({
    onKeys: (bytes) => {
      if (keys.leaves(bytes)) leave(255);
      // What is typed to a shell that has ended goes nowhere; its end is told by `wait`.
      else shell.write(bytes).catch(() => undefined);
    },
    // A terminal that cannot be told its new size goes on with the old one.
    onResize: (size) => void shell.resize(size).catch(() => undefined),
    onEnd: leave,
  });
  const ended = shell.wait().then(exitStatus);
  const exitCode = await Promise.race([ended, terminal.closed.then(() => left ?? 255)]);
  if (left === undefined) return exitCode;
  // Nobody waits any more for how it ends, and what it drew is not cleared away by itself.
  ended.catch(() => undefined);
  terminal.restore(true);
  return left;
}
