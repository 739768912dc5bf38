import type { WriteOptions } from "./provider.js";

/** A file beside its place, which is filled by another way than that of who has made it. */
export interface StagedFile {
  /** What is to be filled. */
  readonly path: string;
  /** Puts it in its place, as a write does. @throws SandboxError `TRANSPORT` when it is not of so many bytes */
  commit(bytes: number): Promise<void>;
  /** Gives it up; nothing of it is left. */
  discard(): Promise<void>;
}

/**
 * Makes such a file, for a write that does not append.
 * @returns undefined where no other way leads to the place
 * @throws SandboxError as the write does
 */
export type StageFile = (path: string, options: WriteOptions) => Promise<StagedFile | undefined>;
