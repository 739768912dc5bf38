import type { Capabilities } from "./capabilities.js";
import type { ExecResult } from "./exec.js";
import type { Files } from "./files.js";
import type { CellResult, Kernel } from "./kernel/kernel.js";
import type { ExecOptions, KernelRequest, RunCodeOptions, SpawnProcessOptions } from "./options.js";
import type { Process, ProcessInfo } from "./process.js";
import type { PortInfo, SandboxInfo, SandboxRef, SnapshotInfo } from "./provider.js";

/** A command: a string is run by `sh -c`, an array without a shell. */
export type Command = string | readonly string[];

/** An isolated place to run code. Ends when disposed. */
export interface Sandbox extends AsyncDisposable {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files: Files;
  exec(command: Command, options?: ExecOptions): Promise<ExecResult>;
  spawn(command: Command, options?: SpawnProcessOptions): Promise<Process>;
  process(id: string): Promise<Process | null>;
  processes(): Promise<ProcessInfo[]>;
  runCode(code: string, options?: RunCodeOptions): Promise<CellResult>;
  kernel(request?: KernelRequest): Promise<Kernel>;
  port(port: number, options?: { readonly waitMs?: number | undefined }): Promise<PortInfo>;
  info(): Promise<SandboxInfo>;
  extend(ttlMs: number): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  snapshot(name?: string): Promise<SnapshotInfo>;
  fork(count?: number): Promise<Sandbox[]>;
  describe(): Promise<string>;
  destroy(): Promise<void>;
  native<T = unknown>(): T;
}
