import type { OutputChunk, Sandbox } from "@sandkit/core";
import type { RunEnd } from "../result/run-result.js";

/** Something to run in a sandbox. */
export interface Work {
  /** One line for lists: the beginning of the code or the command. */
  readonly title: string;
  /** Runs that share this wait for each other: the language of a cell. */
  readonly queue?: string | undefined;
  readonly timeoutSeconds: number;
  /** True when its stdin stays open. */
  readonly interactive?: boolean | undefined;
  readonly sandboxId: string | undefined;
  /** Packages that must be there before it runs. */
  readonly packages: readonly string[];
  run(sandbox: Sandbox, controls: WorkControls): Promise<RunEnd>;
}

/** What work is given to run with. */
export interface WorkControls {
  /** Aborts when the run is stopped or its caller goes away. */
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: OutputChunk) => void;
  /** Tells that the work takes input from now on. */
  readonly takesInput: (input: RunInput) => void;
}

/** The way to a program's stdin. */
export interface RunInput {
  write(text: string): Promise<void>;
  /** The program reads end of file after what was written. */
  end(): Promise<void>;
  /** As Ctrl-C does. */
  interrupt(): Promise<void>;
}
