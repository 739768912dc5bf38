import type { Capabilities } from "../capabilities.js";
import type { PortInfo, ProviderSession, SandboxRef, SnapshotInfo } from "../provider.js";
import type { BoxInfo } from "./machine.js";
import type { Terminal } from "./terminal.js";

/** A machine at a vendor's, as its provider hands it to `remoteSession`. */
export interface RemoteBox {
  readonly ref: SandboxRef;
  /** What such a box may be able to do; narrowed to what is found in it. */
  readonly capabilities: Capabilities;
  /** Default: where a shell of the box starts. */
  readonly workdir?: string | undefined;
  /** Over the environment of the box. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Who programs run as, where the terminal is root's: the link then is out of their reach. Default: the terminal's user.
   */
  readonly user?: string | undefined;
  /** Made when missing. */
  readonly directories?: readonly string[] | undefined;
  /** A terminal that was never opened, of this user; default: of whoever the vendor gives most rights. */
  terminal(user?: string): Terminal;
  /** The vendor's own way for large files, where it is faster than the agent. */
  readonly bulk?: BulkFiles | undefined;
  /** Asked of the vendor for each `info`, and before it is believed that the box is gone. */
  info(): Promise<BoxInfo>;
  /** Why the box is not reached any more, as the vendor tells. */
  explainLoss?(): Promise<string | undefined>;
  /** Ends the box. Idempotent; throws only if it may still exist. */
  destroy(): Promise<void>;
  port?(port: number, options?: { readonly waitMs?: number | undefined }): Promise<PortInfo>;
  /** What runs in the box is kept by the vendor's pause, or ends with it. */
  readonly pause?:
    | { readonly keeps: "processes" | "files"; pause(): Promise<void>; resume(): Promise<void> }
    | undefined;
  snapshot?(name?: string): Promise<SnapshotInfo>;
  fork?(count: number): Promise<ProviderSession[]>;
  /** Moves the vendor's end of life to `ttlMs` from now. */
  extend?(ttlMs: number): Promise<void>;
  /** Asked for each time: after a resume it may be another object. */
  readonly native?: unknown;
}

/** Whole files by the vendor's own interface. Paths are absolute. */
export interface BulkFiles {
  /** Files of fewer bytes go through the agent. */
  readonly fromBytes: number;
  read(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Makes or replaces the file; need not be atomic. */
  write(path: string, data: ReadableStream<Uint8Array>, signal?: AbortSignal): Promise<void>;
}
