import type { FileInfo, ListFilesOptions, ProcessExit, ProviderCell, WriteOptions } from "@sandkit/core";
import type { FromGuest, ToGuest } from "./network/request-desk.js";
import type { PresentPackage } from "./packages/present-package.js";
import type { PreparedArchive } from "./packages/wheel-layout.js";

/** What runs guest code. */
export type Interpreter = "python" | "javascript" | "shell";

/** As people call them. */
export const interpreterNames = { python: "Python", javascript: "JavaScript", shell: "shell" } as const;

/** What is started in a worker. */
export type Job =
  | {
      readonly kind: "program";
      readonly interpreter: Interpreter;
      readonly argv: readonly string[];
      readonly stdin: boolean;
      readonly mergeStderr: boolean;
    }
  | { readonly kind: "kernel"; readonly interpreter: Interpreter };

/** Where and with what it runs. */
export interface JobPlace {
  /** Whether what the code imports and the sandbox lacks is installed first. */
  readonly autoInstall: boolean;
  /** Whether it may ask the caller's process for what its list permits. */
  readonly network: boolean;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A file's facts with the time as a number, so that they travel as plain data. */
export type FileRecord = Omit<FileInfo, "modifiedAt"> & { readonly modifiedAt: number };

export type WriteFileOptions = Pick<WriteOptions, "mode" | "permissions"> & { readonly ifModifiedAt?: number };

/** The calls that the caller's process makes to the child, by name: arguments and result. */
export interface Calls {
  /** Makes the child the sandbox of its user. Once, before any other call. */
  claim: { args: [settings: SandboxSettings]; result: null };

  /** Answered with its process id once it has its turn. */
  start: { args: [id: string, job: Job, place: JobPlace]; result: number };
  /** Gives input; answered when it is accepted. */
  write: { args: [id: string, bytes: Uint8Array]; result: null };
  closeInput: { args: [id: string]; result: null };
  signal: { args: [id: string, signal: string]; result: null };
  /** Runs one cell in a kernel. */
  cell: { args: [id: string, code: string]; result: ProviderCell };
  /** Ends the running cell softly. */
  interrupt: { args: [id: string]; result: null };
  /** Ends a job at once; answered when its worker is gone. */
  end: { args: [id: string]; result: null };

  /** Removes packages and unpacks others: all of it or nothing. Answered with the names of those that were removed. */
  changePackages: { args: [change: PackageChange]; result: string[] };
  /** What packages are there. */
  packages: { args: []; result: InstalledPackages };

  stat: { args: [path: string, followLinks: boolean]; result: FileRecord };
  list: { args: [path: string, options: ListFilesOptions]; result: FileRecord[] };
  mkdir: { args: [path: string]; result: null };
  move: { args: [from: string, to: string]; result: null };
  symlink: { args: [target: string, path: string]; result: null };
  remove: { args: [path: string, recursive: boolean]; result: boolean };
  openRead: { args: [path: string, offset: number]; result: number };
  /** Empty at the end of the file. */
  read: { args: [handle: number, length: number]; result: Uint8Array };
  closeRead: { args: [handle: number]; result: null };
  openWrite: { args: [path: string, options: WriteFileOptions]; result: number };
  append: { args: [handle: number, bytes: Uint8Array]; result: null };
  /** Puts what was written in place of what was there. */
  commit: { args: [handle: number]; result: null };
  abandon: { args: [handle: number]; result: null };
}

export type CallName = keyof Calls;

/** What is to become of the packages in a sandbox. */
export interface PackageChange {
  /** Normalised names; those that are not there are passed over. */
  readonly remove: readonly string[];
  readonly archives: readonly PreparedArchive[];
}

/** A package in the sandbox, as its own files tell: a guest may have written anything there. */
export interface InstalledRecord extends PresentPackage {
  /** Normalised. */
  readonly name: string;
  /** The name as its author writes it. */
  readonly title: string;
  readonly summary: string;
}

/** What packages are in the sandbox. */
export interface InstalledPackages {
  readonly packages: readonly InstalledRecord[];
  /** What could not be read, or was too much. */
  readonly warnings: readonly string[];
}

/** From the caller's process to the child. */
export type ToChild =
  | { readonly type: "call"; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] }
  /** The consumer has taken so many bytes of a stream. */
  | { readonly type: "taken"; readonly job: string; readonly stream: OutputStream; readonly bytes: number }
  /** How a command ended that the child asked for. */
  | { readonly type: "commandDone"; readonly id: number; readonly result: HostCommandResult }
  /** Of a request that a guest has opened. */
  | { readonly type: "http"; readonly message: ToGuest }
  /** To be answered with `pong` at once. */
  | { readonly type: "ping" };

/** From the child to the caller's process. */
export type FromChild =
  /** It can be claimed; whether it found its code compiled. */
  | { readonly type: "ready"; readonly cached: boolean }
  | { readonly type: "pong" }
  /** Files may be different from the last listing. Said once after each, and before anything that tells of the change. */
  | { readonly type: "changed" }
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly errno: string; readonly message: string }
  | { readonly type: "output"; readonly job: string; readonly stream: OutputStream; readonly bytes: Uint8Array }
  | { readonly type: "ended"; readonly job: string; readonly exit: JobExit }
  /** A guest asks for a command of the caller's process, such as `pip`; answered with `commandDone`. */
  | { readonly type: "command"; readonly id: number; readonly argv: readonly string[]; readonly cwd: string }
  /** Nobody waits for that command any more: it is to end. */
  | { readonly type: "commandCancel"; readonly id: number }
  /** A guest asks a host on the network, as far as its sandbox's list permits. */
  | { readonly type: "http"; readonly message: FromGuest };

/** What a command has done that the caller's process carries out. */
export interface HostCommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type OutputStream = "stdout" | "stderr";

/** How a job ended. */
export interface JobExit extends ProcessExit {
  /** What went wrong in the interpreter itself. */
  readonly crash?: string | undefined;
}

/** What the child is told at its start, as its one argument. */
export interface ChildOptions {
  /** Directory of Pyodide's package. */
  readonly pyodide: string;
  /** Directory of QuickJS's module. */
  readonly quickjs: string;
  /** Directory of our built files. */
  readonly artifacts: string;
  readonly memoryMiB: number;
  /** The most that its files will take. */
  readonly diskMiB: number;
  /** Programs that run at one time, and as many shells. */
  readonly maxWorkers: number;
  /** Processor time of the whole child. */
  readonly maxCpuMs?: number | undefined;
  readonly warmWorkers: number;
  /** True: it is ready only when its warm interpreters are. */
  readonly warmFirst: boolean;
  /** Where code that was compiled before may be found. */
  readonly codeCache?: string | undefined;
}

/** What a sandbox gets when it has found its user; everything else is fixed from the start of its child. */
export interface SandboxSettings {
  readonly diskMiB: number;
  readonly workdir: string;
}

/** Bytes of one stream that may be under way to the consumer before the program is held up. */
export const outputWindow = 256 * 1024;
