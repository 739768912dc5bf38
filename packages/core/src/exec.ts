import type { ResourceUsage } from "./provider.js";

/**
 * Why a run ended: exactly one, the first that happened. `exited` by itself; `signaled` by a signal that was not ours;
 * `timeout`, `aborted`, `output_limit` by an option; `oom` for too much memory.
 */
export type EndReason = "exited" | "signaled" | "timeout" | "aborted" | "output_limit" | "oom";

/** What was kept of one stream. */
export interface Captured {
  /** Head and tail, joined; everything when not truncated. */
  readonly bytes: Uint8Array;
  /** Decoded; where bytes were left out a line says how many. Invalid UTF-8 becomes U+FFFD. */
  readonly text: string;
  /** What the program wrote. */
  readonly totalBytes: number;
  readonly truncated: boolean;
}

/** What a command did. A timeout, an abort or a non-zero exit is a result, with its partial output. */
export interface ExecResult {
  /** Null unless `reason` is `exited`. */
  readonly exitCode: number | null;
  /** Name of the signal that ended the program, where one did. */
  readonly signal?: string | undefined;
  readonly reason: EndReason;
  /** True when it exited with 0. */
  readonly ok: boolean;
  readonly stdout: Captured;
  readonly stderr: Captured;
  /** True when stderr is part of stdout. */
  readonly stderrMerged: boolean;
  /** From when the provider was asked to start it until its end, in milliseconds; a wait for a free place counts. */
  readonly durationMs: number;
  /** What it used, where the provider tells. */
  readonly usage?: ResourceUsage | undefined;
  /** This result if `ok`. @throws SandboxError `COMMAND_FAILED` carrying this result */
  orThrow(): ExecResult;
}
