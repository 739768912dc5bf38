import type { GuestWorker } from "./guest-worker.js";

/** One call of an interpreter, besides its arguments. */
export interface OperationCall {
  readonly worker: GuestWorker;
  /** Bytes that came along. */
  readonly data: Uint8Array;
}

/** What an interpreter may ask, by name. Its arguments can be anything; a throw is the interpreter's end. */
export type Operations = Readonly<Record<string, (call: OperationCall, ...args: unknown[]) => void>>;
