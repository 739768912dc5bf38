import type { BashOptions } from "just-bash";

const mebibyte = 1024 * 1024;
const unbounded = Number.MAX_SAFE_INTEGER;

/**
 * What one script may take. Time is the caller's to bound, and the shell's thread can be ended whatever it does: so
 * there is no limit on steps. What is bounded is memory, and what just-bash would do all at once.
 */
export const limits: NonNullable<BashOptions["executionLimits"]> = {
  maxSourceBytes: 16 * mebibyte,
  maxCallDepth: 500,
  maxCommandCount: unbounded,
  maxLoopIterations: unbounded,
  maxAwkIterations: unbounded,
  maxSedIterations: unbounded,
  maxJqIterations: unbounded,
  maxWorkUnits: unbounded,
  maxGlobOperations: unbounded,
  maxInputBytes: unbounded,
  // `seq` makes all of its lines before it writes one: what ends it is the length of its output.
  maxArrayElements: 16 * mebibyte,
  maxExecutionTimeMs: Number.POSITIVE_INFINITY,
  // A command that `timeout` ends is waited for, however long its program takes.
  maxExtensionCleanupTimeMs: 2 ** 31 - 1,
  maxLiveBytes: 256 * mebibyte,
  maxStringLength: 64 * mebibyte,
  maxHeredocSize: 16 * mebibyte,
  maxOutputSize: 256 * mebibyte,
  maxArchiveBytes: 256 * mebibyte,
};
