import type { SandboxError } from "../errors.js";
import type { ProgramMarks } from "./program-marks.js";

/** A box without a guest agent, where the backend starts one program after another. */
export interface PlainPlace {
  readonly provider: string;
  readonly sandboxId: string;
  readonly marks: ProgramMarks;
  /**
   * Starts a program in `/`, beside the others. `command[0]` is found by a `PATH` that is not the programs' own.
   * @throws SandboxError `SANDBOX_LOST` when the box no longer runs
   */
  start(command: readonly string[], options: PlainStart): Promise<PlainExec>;
  /** Whether the box runs. Never rejects. */
  isRunning(): Promise<boolean>;
  /** The error for a box that does not. */
  lost(cause?: unknown): SandboxError;
}

/** How a program is started. */
export interface PlainStart {
  /** Over the environment of the box, each `NAME=value`. */
  readonly env: readonly string[];
  /** Whether it gets input; otherwise it reads end of file. */
  readonly stdin: boolean;
  /** One of ours that ends soon, and that programs in plenty must not hold up. */
  readonly isUrgent?: boolean | undefined;
}

/** A program that a backend has started, with its three streams. */
export interface PlainExec {
  /** Settles when nothing more comes; never rejects. */
  readonly closed: Promise<void>;
  /** Whether output is held up, because its sink has no room. */
  readonly held: boolean;
  /** Hands its output over from now on; to be called once, at once. */
  listen(sink: OutputSink): void;
  /** There is room again. */
  resume(): void;
  /** Gives it input; resolves when that is taken, or nothing takes it any more. Never rejects. */
  write(data: Uint8Array): Promise<void>;
  /** It reads end of file after what was written. */
  end(): void;
  /** Resolves when what was on its way has come, where that may take longer than a moment. Never rejects. */
  caughtUp?(): Promise<void>;
  /** Lets go of its streams; whether it goes on is not said. */
  destroy(): void;
  /** To be asked once it is closed. */
  ending(): Promise<PlainEnding>;
}

/** How the streams of a program ended. */
export interface PlainEnding {
  /** The end of both outputs was seen. */
  readonly complete: boolean;
  /** Its exit code, 128 and more for a signal; null when nobody knows. */
  readonly code: number | null;
  /** Why it is not complete, or the code not known. */
  readonly failure: SandboxError | undefined;
}

/** Who takes the two outputs of a program. */
export interface OutputSink {
  stdout(bytes: Uint8Array): unknown;
  stderr(bytes: Uint8Array): unknown;
  /** Whether there is room for more of both. */
  wanted(): boolean;
}
