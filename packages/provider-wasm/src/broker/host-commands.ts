import type { FromChild, HostCommandResult } from "../protocol.js";
import { endsByDefault } from "../signal-numbers.js";
import type { ProgramListener, StartedProgram } from "./started-programs.js";

/**
 * Starts a command that only the caller's process can carry out, such as `pip`. `done` is told of its end, unless the
 * function that is returned has cancelled it before.
 */
export type StartCommand = (
  argv: readonly string[],
  cwd: string,
  done: (result: HostCommandResult) => void,
) => () => void;

/** Commands of the caller's process: both shells and interpreters ask for them here. */
export class HostCommands {
  readonly #send: (message: FromChild) => void;
  readonly #waiting = new Map<number, (result: HostCommandResult) => void>();
  #nextId = 1;

  constructor(send: (message: FromChild) => void) {
    this.#send = send;
  }

  readonly start: StartCommand = (argv, cwd, done) => {
    const id = this.#nextId++;
    this.#waiting.set(id, done);
    this.#send({ type: "command", id, argv, cwd });
    return () => {
      if (this.#waiting.delete(id)) this.#send({ type: "commandCancel", id });
    };
  };

  done(id: number, result: HostCommandResult): void {
    const done = this.#waiting.get(id);
    this.#waiting.delete(id);
    done?.(result);
  }
}

/** What a shell takes at a time. */
const pieceBytes = 64 * 1024;

/** Such a command as a shell has its programs. It takes no input. */
export function hostProgram(
  start: StartCommand,
  argv: readonly string[],
  cwd: string,
  listener: ProgramListener,
): StartedProgram {
  let isOver = false;
  const cancel = start(argv, cwd, ({ exitCode, stdout, stderr }) => {
    for (const [stream, text] of [["stdout", stdout] as const, ["stderr", stderr] as const]) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        listener.output(stream, bytes.subarray(at, at + pieceBytes));
      }
    }
    isOver = true;
    listener.ended({ exitCode });
  });
  const endBy = (signal: string) => {
    if (isOver) return;
    isOver = true;
    cancel();
    listener.ended({ exitCode: null, signal });
  };
  return {
    // It runs outside.
    pid: 1,
    write: async () => undefined,
    closeInput: () => undefined,
    taken: () => undefined,
    signal: (name) => {
      if (endsByDefault(name)) endBy(name);
    },
    end: () => endBy("SIGKILL"),
  };
}
