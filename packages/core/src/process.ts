import type { Captured, ExecResult } from "./exec.js";
import type { OutputChunk } from "./options.js";
import type { PtySize } from "./provider.js";

/** A running program. Disposing it kills the tree. */
export interface Process extends AsyncDisposable {
  readonly id: string;
  readonly pid: number;
  /**
   * Separate streams of exact bytes. Until iterated each drains into the bounded capture; iterating replays what was
   * captured and then pulls, holding the program up when the consumer is slow. One consumer each.
   */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Both streams, tagged. Counts as the consumer of both. */
  readonly output: AsyncIterable<OutputChunk>;
  /** The bounded capture so far; never counts as reading. */
  captured(): { readonly stdout: Captured; readonly stderr: Captured };
  /** Resolves on acceptance. */
  write(data: string | Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
  /** SIGTERM, grace, SIGKILL by default; resolves when the whole tree is gone. A named signal is only delivered. */
  kill(signal?: string): Promise<void>;
  /** Waiting can be given up by `signal` without ending the program. */
  wait(options?: { readonly signal?: AbortSignal | undefined }): Promise<ExecResult>;
  resize(size: PtySize): Promise<void>;
}

/** One line of `processes()`. */
export interface ProcessInfo {
  readonly id: string;
  readonly pid: number;
  readonly command: readonly string[];
  readonly running: boolean;
  readonly startedAt: Date;
}
