/**
 * The contract between Sandkit and a backend: types only.
 *
 * A provider states facts and moves bytes. Everything that users see on top (timeouts, aborts, output caps, text,
 * queues of cells, approval, path rules) is built once in core over these few members, so that it means the same
 * everywhere. Values that reach a provider are already parsed: absolute normalised paths, milliseconds, bytes, MiB.
 *
 * Failures are `SandboxError`s with a code of the closed list. A command that ran is never a failure.
 */
import type { Capabilities } from "./capabilities.js";
import type { Contact } from "./network/contact.js";
import type { CreateOptions, NetworkPolicy } from "./options.js";

/** Names a sandbox. Plain JSON: it can be stored, sent, and attached to by another program. */
export interface SandboxRef {
  /** Name of the provider that made it. */
  readonly provider: string;
  /** The backend's own id. */
  readonly id: string;
}

/** A backend: makes sandboxes, finds them again, and sweeps up those that lost their owner. */
export interface Provider<Native = unknown> {
  /** Short and stable: `wasm`, `docker`. It is part of every ref. */
  readonly name: string;

  /** An upper bound over all sandboxes that this provider can make; the session's are the truth. */
  readonly capabilities: Capabilities;

  /**
   * Checks what only this provider can know (template, image, `native`). Core has checked the rest against
   * `capabilities`. Must not create anything or do I/O.
   * @throws SandboxError `UNSUPPORTED` or `INVALID`, naming the option
   */
  validate(options: CreateOptions<Native>): void;

  /**
   * Makes a sandbox and resolves once it can take commands. With `options.name`, gives the living sandbox of that
   * name of this owner instead; a living one with other options is a `CONFLICT`. On failure and on abort nothing is
   * left behind.
   * @throws SandboxError `AUTH`, `QUOTA`, `CONFLICT`, `UNAVAILABLE`, `TIMEOUT`, …; or `options.signal.reason`
   */
  create(options: CreateOptions<Native>): Promise<ProviderSession>;

  /** Finds a living sandbox by its ref; `null` only when it is confirmed gone. */
  attach(ref: SandboxRef, options?: AttachOptions): Promise<ProviderSession | null>;

  /** The owner's living sandboxes, those with all the given labels. An outage throws; it is never an empty list. */
  list(options?: ListOptions): AsyncIterable<SandboxInfo>;

  /**
   * Removes sandboxes whose owner is dead, and what is kept for sandboxes to come and nobody has used for long; tells
   * which. Never touches a sandbox whose owner lives.
   */
  reap(options: ReapOptions): Promise<SandboxRef[]>;

  /** The snapshots that sandboxes can be made from, whoever took them. Absent where the backend's own tools tell. */
  snapshots?(): AsyncIterable<SnapshotInfo>;

  /** Removes a snapshot; sandboxes made from it live on. False when there was none of this id. */
  removeSnapshot?(id: string): Promise<boolean>;

  /** Tells whether the backend can be used from here, and if not, how to fix it. Never throws. */
  check(): Promise<CheckResult>;

  /**
   * Ends what the provider keeps ready for sandboxes to come. Living sandboxes go on, and more can be created. Never
   * needed for the program to end. Idempotent.
   */
  close?(): Promise<void>;
}

export interface AttachOptions {
  /** Gives the search up: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ListOptions {
  /** Only sandboxes that carry every one of these. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export interface ReapOptions {
  /** Only sandboxes older than this, in milliseconds. */
  readonly olderThanMs: number;
  /** Only tell what would be removed. */
  readonly dryRun?: boolean | undefined;
}

export interface CheckResult {
  readonly ok: boolean;
  /** One line: what was found (version, isolation) or what is wrong. */
  readonly detail: string;
  /** What was found out or tried on the way, for people and programs: each by a short name, in the order to be told. */
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** What a person can do about it, in order of preference. */
  readonly fix?: readonly string[] | undefined;
}

/** A provider's handle on one living sandbox. Users hold core's `Sandbox`, never this. */
export interface ProviderSession {
  readonly ref: SandboxRef;
  /** Absolute path that relative paths resolve against. Exists and is writable. */
  readonly workdir: string;
  readonly capabilities: Capabilities;

  /**
   * Starts one program; `command[0]` is looked up in the sandbox's PATH. The one primitive under exec and spawn.
   * A missing program is no error: its process ends with 127 (found but not executable: 126) and says so on stderr.
   * A shell string arrives as `["sh", "-c", string]`.
   * @throws SandboxError `FILE_NOT_FOUND` or `NOT_DIRECTORY` for a bad `cwd`; `SANDBOX_LOST`; `EXPIRED`
   */
  spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess>;

  /** Finds a running process again, also one that another client started. `null` only when it is confirmed gone. */
  process?(id: string): Promise<ProviderProcess | null>;

  readonly files: ProviderFiles;

  /**
   * Starts an interpreter that keeps its state between cells.
   * @throws SandboxError `KERNEL_UNAVAILABLE` when the box has no interpreter for the language
   */
  kernel?(options: KernelOptions): Promise<ProviderKernel>;

  /**
   * Has `listener` told of each contact of the sandbox with a host, once it is over, its decision included: of those
   * that begin from now on and that this session serves. Present where `network.contacts` is declared.
   */
  onContact?(listener: (contact: Contact) => void): void;

  /**
   * Has `listener` told of use that no call shows, such as bytes through a port, once a second at most while it lasts:
   * it counts against idleness. Present where there is such use.
   */
  onUse?(listener: () => void): void;

  /**
   * Makes a port reachable from outside: from this machine alone, or from wherever the backend's address leads.
   * @param options `waitMs`: how long something may take to listen there; 0, the default: it is not looked whether
   * something does.
   * @throws SandboxError `UNAVAILABLE` when nothing does in time
   */
  port?(port: number, options?: { readonly waitMs?: number | undefined }): Promise<PortInfo>;

  /**
   * Keeps the sandbox for later without running it: its programs stand still, or end where the backend keeps files
   * alone. Until `resume`, all that needs it running is `UNAVAILABLE`; `info` and `destroy` work. What was asked
   * before waits. `ttlMs` goes on meanwhile. Idempotent, as is `resume`.
   */
  pause?(): Promise<void>;
  resume?(): Promise<void>;

  /**
   * Saves what was written in the sandbox: bytes, modes, times, links. A create with its id has it again, in the image
   * that it was made in. Outlives the sandbox. What has no form in it (a socket) is left out and told.
   */
  snapshot?(name?: string): Promise<SnapshotInfo>;

  /** New sandboxes with the options, but not the name, and the files of this one; all of them, or none. */
  fork?(count: number): Promise<ProviderSession[]>;

  /** Moves the end of life to `ttlMs` from now, in milliseconds. */
  extend?(ttlMs: number): Promise<void>;

  /** Asked of the backend, never guessed. */
  info(): Promise<SandboxInfo>;

  /** Ends the sandbox and everything in it. Idempotent; throws only if the sandbox may still exist. */
  destroy(): Promise<void>;

  /** The vendor's own object, for what the contract does not cover. */
  readonly native?: unknown;
}

/** How one program is started. */
export interface SpawnOptions {
  /** Absolute path; the session's `workdir` when absent. */
  readonly cwd?: string | undefined;
  /** Over the sandbox's own environment. Handed to the program as data, never on a command line. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** False: the program reads end of file at once. True: what `write` gives it, until `closeStdin`. */
  readonly stdin: boolean;
  /** Stderr goes where stdout goes, in the order the program wrote; `stderr` of the process is then empty. */
  readonly mergeStderr?: boolean | undefined;
  /** A name that the sandbox knows, or `uid:gid`. `INVALID` for one that it does not. Needs `exec.user`. */
  readonly user?: string | undefined;
  readonly pty?: PtySize | undefined;
  /**
   * When the box is to end the tree by itself, in milliseconds, should the leader still run: core does before, unless
   * this program has ended. Where the box does not outlive that, nothing has to be done.
   */
  readonly deadlineMs?: number | undefined;
  /** For providers where a program may wait for its turn: aborted before it started, `spawn` rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Of a terminal, in characters. */
export interface PtySize {
  readonly columns: number;
  readonly rows: number;
}

/** A program that was started, and the tree of processes that grew from it. */
export interface ProviderProcess {
  /** Unique in its sandbox. */
  readonly id: string;
  /** The number the program has for itself inside the sandbox. */
  readonly pid: number;

  /**
   * Exact bytes, pulled by core. What is not pulled must, after at most a bounded buffer, hold up the program.
   * Both end no later than soon after the leader has ended and what it wrote has been read, even when a background
   * child still holds the pipe; what such a child writes later is discarded. Cancelled, a stream discards what comes.
   */
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;

  /** Resolves on acceptance, waiting while the program does not read. After the program's end it does nothing. */
  write(data: Uint8Array): Promise<void>;
  /** The program reads end of file after what was written. Idempotent. */
  closeStdin(): Promise<void>;

  /** Sends a signal (`SIGTERM`, `SIGINT`, `SIGKILL`, …) to every process of the tree. No error when none is left. */
  kill(signal: string): Promise<void>;

  /**
   * Settles when the program itself (the leader) has ended.
   * Rejects with `SANDBOX_LOST` or `TRANSPORT` when its end cannot be known: that is never an exit code.
   */
  readonly exited: Promise<ProcessExit>;

  /**
   * Settles when the last process of the tree has ended, and never before `exited`: background children, new
   * sessions (`setsid`) and double forks count; output that nobody has read yet does not. Core believes nothing else
   * about death.
   */
  readonly gone: Promise<void>;

  /** True while the way to the sandbox is broken but may be found again: that its end is not told says nothing then. */
  readonly stalled?: boolean;

  resize?(size: PtySize): Promise<void>;
}

/** How a program ended: exactly one of `exitCode` and `signal` is set. */
export interface ProcessExit {
  readonly exitCode: number | null;
  /** Name of the signal that ended it: `SIGKILL`. */
  readonly signal?: string | undefined;
  /** True when it was ended for using too much memory. */
  readonly oom?: boolean | undefined;
  readonly usage?: ResourceUsage | undefined;
}

export interface ResourceUsage {
  /** Processor time of the tree, user and system, in milliseconds. */
  readonly cpuMs?: number | undefined;
  /** Largest resident set, in bytes. */
  readonly peakMemoryBytes?: number | undefined;
}

/**
 * The file system of the sandbox. Paths are absolute and normalised, without `.`, `..`, NUL or a trailing slash.
 * Any other name is a name: spaces, quotes, newlines, a leading dash.
 * All members throw `SandboxError` with `FILE_NOT_FOUND`, `NOT_DIRECTORY`, `IS_DIRECTORY`, `FILE_EXISTS`,
 * `PERMISSION`, `NO_SPACE` or `TOO_LARGE` as fits.
 */
export interface ProviderFiles {
  /** The bytes of a file from `offset` on, `length` of them at most; a range past the end is empty. Follows links. */
  read(path: string, options?: ReadOptions): Promise<ReadableStream<Uint8Array>>;

  /**
   * Writes a whole file. Parents are made. Atomic: a reader sees the old bytes or the new, and a failed or aborted
   * write leaves the old (`append` may leave part of the new). Follows links.
   * @throws SandboxError `FILE_EXISTS` with mode `exclusive`; `CONFLICT` when `ifModifiedAt` no longer holds
   */
  write(path: string, data: ReadableStream<Uint8Array>, options: WriteOptions): Promise<void>;

  /** What a directory holds, in one round trip, in the order of the paths' code units. */
  list(path: string, options?: ListFilesOptions): Promise<FileInfo[]>;

  stat(path: string, options: { readonly followSymlinks: boolean }): Promise<FileInfo>;

  /** Makes a directory and its parents; content with one that is there. `FILE_EXISTS` when a file has the name. */
  mkdir(path: string): Promise<void>;

  /** Renames, like rename(2): replaces a file or an empty directory that is there. Makes the parents of `to`. */
  move(from: string, to: string): Promise<void>;

  /**
   * Removes a file, a link (never what it leads to) or, with `recursive`, a directory and all in it.
   * False when nothing was there. A directory without `recursive` is `IS_DIRECTORY`.
   */
  remove(path: string, options: { readonly recursive: boolean }): Promise<boolean>;

  /** Makes a symbolic link; parents are made. Present where `files.symlink` is declared. */
  symlink?(target: string, path: string): Promise<void>;

  /**
   * Changes at and below a directory in the order in which they happened, from the first `next()` until the iteration
   * stops: by `return`, by the signal (rejects with its reason), when the directory itself is gone (ends after its
   * `removed`), or with the sandbox. A rename is `removed` and `created`. With `recursive`, new directories are watched
   * too, and what was in one before it could be is told as `created`. What is not taken is kept to a bound; beyond it
   * the iteration ends with `TOO_LARGE`, and some changes are lost. Present where `files.watch` is declared.
   * @throws SandboxError `FILE_NOT_FOUND`, `NOT_DIRECTORY`, `PERMISSION`
   */
  watch?(path: string, options: WatchOptions): AsyncIterable<FileChange>;
}

export interface ReadOptions {
  /** In bytes; default 0. */
  readonly offset?: number | undefined;
  /** In bytes; default: to the end. */
  readonly length?: number | undefined;
  /** Gives the reading up, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions {
  readonly mode: "truncate" | "append" | "exclusive";
  /** Permission bits of a new file, such as 0o755; default 0o644. An existing file keeps its own unless given. */
  readonly permissions?: number | undefined;
  /** Writes only if the file was last changed at exactly this time. */
  readonly ifModifiedAt?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListFilesOptions {
  /** With all that is in its directories; default false. Links to directories are not entered. */
  readonly recursive?: boolean | undefined;
  /** Levels with `recursive`, 1 being what is in `path` itself; default: all. */
  readonly maxDepth?: number | undefined;
  /** Stops after this many entries; default: none. */
  readonly limit?: number | undefined;
}

export interface WatchOptions {
  /** Directories below too; default false: the directory and what is in it. */
  readonly recursive?: boolean | undefined;
  /** Stops the iteration, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface FileChange {
  readonly type: "created" | "changed" | "removed";
  /** Absolute. */
  readonly path: string;
}

export interface FileInfo {
  /** Absolute. */
  readonly path: string;
  readonly type: "file" | "directory" | "symlink" | "other";
  /** In bytes; of a link: of the link itself. */
  readonly size: number;
  /** Permission bits, without the type. */
  readonly mode: number;
  readonly modifiedAt: Date;
  /** Where a link leads, as written. */
  readonly symlinkTarget?: string | undefined;
}

/** Languages that a kernel may speak. */
export type KernelLanguage = "python" | "javascript" | "typescript" | "bash";

export interface KernelOptions {
  readonly language: KernelLanguage;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * One living interpreter. It runs one cell at a time: core queues, applies deadlines and makes the user's result.
 * Once it has died it stays dead; core starts another.
 */
export interface ProviderKernel {
  readonly id: string;

  /**
   * Runs one cell to its end. `onOutput` is awaited before more output is produced: that is the back-pressure.
   * Resolves also when the interpreter dies on the way. Rejects only when the sandbox is lost.
   */
  execute(code: string, options: ExecuteOptions): Promise<ProviderCell>;

  /** Asks the running cell to stop with its state kept (a `KeyboardInterrupt` in Python). Resolves once asked. */
  interrupt(): Promise<void>;

  /** Ends the interpreter at once; resolves when it is gone and a running `execute` has settled or will. Idempotent. */
  kill(): Promise<void>;
}

export interface ExecuteOptions {
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
}

/** What one cell did. */
export interface ProviderCell {
  /** 0; 1 after an exception; the code of a `SystemExit`; null when the interpreter died. */
  readonly exitCode: number | null;
  /** JSON of the last expression, where it has one; absent otherwise. */
  readonly value?: unknown;
  /** What the cell displayed, in order; the value of the last expression comes last. */
  readonly outputs: readonly MimeBundle[];
  readonly error?: CellError | undefined;
  /** Present when the interpreter died: by `kill`, by running out of memory, or by itself. */
  readonly died?: "killed" | "oom" | "crashed" | undefined;
}

/** One thing displayed, in several forms. Text as it is, binary as base64, JSON as a value. */
export type MimeBundle = Readonly<Record<string, unknown>>;

/** What a cell raised. */
export interface CellError {
  /** Name of the exception's type, such as `IndexError`. */
  readonly name: string;
  readonly message: string;
  /** As the language prints it, with the user's frames only. */
  readonly traceback: string;
}

/** How a port of a sandbox is reached. */
export interface PortInfo {
  /** Of its root, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** To be sent with every request; absent where nothing is asked for. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** When the address ends, where that is before the sandbox does. */
  readonly expiresAt?: Date | undefined;
}

/** What was saved of a sandbox. */
export interface SnapshotInfo {
  /** Who knows it and reaches the backend can make sandboxes from it. */
  readonly id: string;
  readonly name?: string | undefined;
  readonly createdAt?: Date | undefined;
  /** What it takes, in bytes. */
  readonly sizeBytes?: number | undefined;
  /** Absolute paths of what was left out, as it has no form in a snapshot; told by who takes it. */
  readonly skipped?: readonly string[] | undefined;
}

/** `gone`: ended, whatever ended it. */
export type SandboxState = "running" | "paused" | "gone";

/** What the backend says of a sandbox. */
export interface SandboxInfo {
  readonly ref: SandboxRef;
  readonly state: SandboxState;
  /** Whether `create` made it or found one of that name. */
  readonly origin: "created" | "attached";
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  readonly createdAt: Date;
  /** When it ends by its `ttlMs` or by the backend's own limit; absent where neither is known. */
  readonly expiresAt?: Date | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * What `packages` of the create came to, each exactly: `requests==2.32.5`, `npm:zod@4.1.12`. Asked for like that,
   * they are the same again. Absent where none were asked for, or the backend does not tell.
   */
  readonly packages?: readonly string[] | undefined;
  /** What it may reach, where that is known: named hosts, with the port where it is not one of the web's. */
  readonly network?: Exclude<NetworkPolicy, "packages"> | undefined;
  /** Folders of its machine that it has, by their paths in it. Absent where there are none, or the backend does not tell. */
  readonly mounts?: readonly { readonly path: string; readonly readOnly: boolean }[] | undefined;
  /** Shells that run a command string: `["sh", "bash"]`. */
  readonly shells: readonly string[];
  /** Interpreters that can be started by name: `["python3"]`. */
  readonly interpreters: readonly string[];
}
