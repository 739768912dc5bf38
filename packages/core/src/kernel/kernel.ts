import type { Captured, EndReason } from "../exec.js";
import type { RunCodeOptions } from "../options.js";
import type { CellError, KernelLanguage, MimeBundle } from "../provider.js";

/** What a cell did. An exception, a timeout or an abort is a result, with its partial output. */
export interface CellResult {
  /** 0; 1 after an exception; the code of a `SystemExit`; null when the cell was ended from outside. */
  readonly exitCode: number | null;
  /** JSON of the last expression, where it has one. */
  readonly value?: unknown;
  readonly outputs: readonly MimeBundle[];
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly error?: CellError | undefined;
  readonly reason: EndReason;
  readonly ok: boolean;
  /** True when the interpreter was ended: variables of earlier cells are gone, the next cell starts fresh. */
  readonly stateLost: boolean;
  readonly durationMs: number;
}

/** A stateful interpreter. Cells are queued, never interleaved. */
export interface Kernel extends AsyncDisposable {
  readonly id: string;
  readonly language: KernelLanguage;
  run(code: string, options?: Omit<RunCodeOptions, "language" | "kernel">): Promise<CellResult>;
  /** Stops the running cell, keeping the state where the interpreter allows it. */
  interrupt(): Promise<{ readonly stateLost: boolean }>;
  /** A fresh interpreter; what ran is ended. */
  restart(): Promise<void>;
}
