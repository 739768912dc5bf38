import * as z from "zod/mini";
import { SandboxError } from "./errors.js";
import { describeIssues, english } from "./issues.js";
import { lazily } from "./lazily.js";
import type { KernelLanguage, PtySize } from "./provider.js";

/** Content of a file or of stdin: text goes as UTF-8. */
export type Data = string | Uint8Array | ReadableStream<Uint8Array>;

/** Caps on what a sandbox may use; what is absent is the provider's default. Whole numbers from 1, but for `cpus`. */
export interface Resources {
  /** Processors, fractions allowed. */
  readonly cpus?: number | undefined;
  readonly memoryMiB?: number | undefined;
  /** Of files, all together. */
  readonly diskMiB?: number | undefined;
  /** Processes at one time, threads among them. */
  readonly pids?: number | undefined;
}

/** When a sandbox ends by itself, beside the end of the program that made it. */
export interface Lifetime {
  /** From creation, in milliseconds; default: never. More than the provider's `limits.maxTtlMs` is `INVALID`. */
  readonly ttlMs?: number | undefined;
  /** From the last use, in milliseconds; default: never. What runs is use. */
  readonly idleMs?: number | undefined;
  /** True: it outlives its creator and ends one lease after its last client. Default: it ends with its creator. */
  readonly detached?: boolean | undefined;
}

/**
 * What is asked of the network: nothing, named hosts, package indexes only, or everything. With `packages`, code in the
 * sandbox may install packages; with nothing, only the creator may, by the option of that name.
 */
export type NetworkPolicy = "none" | "full" | "packages" | { readonly allow: readonly string[] };

/** What `approve` is asked about: exactly what is going to run. Input (`stdin`) is not part of it. */
export interface ApprovalRequest {
  readonly kind: "exec" | "code";
  /** The command string, or the code of the cell. */
  readonly code: string;
  /** The argument list, for a command without a shell. */
  readonly argv?: readonly string[] | undefined;
  readonly language?: KernelLanguage | undefined;
  /** Absolute; absent: the sandbox's `workdir`. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly user?: string | undefined;
}

/** How a sandbox is made. Every option is honoured or refused by name. */
export interface CreateOptions<Native = unknown> {
  /**
   * Creates, or gets the living sandbox of this name; other options than the living one's are a `CONFLICT`. 1 to 128 of
   * A-Z a-z 0-9 _ . -, the first a letter or digit.
   */
  readonly name?: string | undefined;
  /** A named starting image; default `python`. Not together with `image`. */
  readonly template?: string | undefined;
  /** The backend's own image, by the name that it has there. */
  readonly image?: string | undefined;
  /** Absolute; default: the provider's. */
  readonly workdir?: string | undefined;
  /** Environment of everything that runs in the sandbox. Whatever runs there can read it. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Kept with the sandbox; `list` of the provider selects by them. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly resources?: Resources | undefined;
  /** Default `none`; a provider that has no `network.none` refuses an explicit `none` and isolates nothing. */
  readonly network?: NetworkPolicy | undefined;
  readonly lifetime?: Lifetime | undefined;
  /** Ports that will be reached from outside, 1 to 65535. */
  readonly ports?: readonly number[] | undefined;
  /** Files by path, absolute or relative to `workdir`, written before the first command of a new sandbox. */
  readonly files?: Readonly<Record<string, Data>> | undefined;
  /**
   * Packages of the language of the template, installed before the first command and needing no network of the
   * sandbox: for Python, requirements such as `requests[socks]>=2,<3`; for Node and TypeScript, names with versions
   * such as `zod@^4`. A prefix says it where the template does not: `pip:numpy`, `npm:zod@^4`.
   */
  readonly packages?: readonly string[] | undefined;
  /** Id of a snapshot to start from; `NOT_FOUND` when there is none. */
  readonly snapshot?: string | undefined;
  /** Asked before each command and cell; false or a throw refuses it (`DENIED`). The clock of the run stands still. */
  readonly approve?: ((request: ApprovalRequest) => boolean | Promise<boolean>) | undefined;
  /** In milliseconds; default 5 minutes. */
  readonly createTimeoutMs?: number | undefined;
  /** Told what creation is waiting for, in words for a person. */
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Gives the creation up: it rejects with the signal's reason, and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
  /** What only this provider knows, typed by it. */
  readonly native?: Native | undefined;
}

/** One piece of output while it appears. */
export interface OutputChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  /** Decoded with the state of its stream: a character cut by the border comes whole in the next chunk. */
  readonly text: string;
}

/** Bounds of one run, for commands and cells alike. */
export interface RunOptions {
  /**
   * The whole process tree is dead when the promise settles. The clock starts with the program, after approval and
   * after its turn has come. In milliseconds; default: none.
   */
  readonly timeoutMs?: number | undefined;
  /** Ends the run like a timeout does; the result's reason is `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Kept of each stream, half head and half tail, in bytes; default 1 MiB. */
  readonly maxOutputBytes?: number | undefined;
  /** Sees every byte, whatever is kept. A returned promise holds the program up; a throw kills it. */
  readonly onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
}

/** How a command is run. */
export interface ExecOptions extends RunOptions {
  /** Absolute, or relative to the sandbox's `workdir`, which is the default. */
  readonly cwd?: string | undefined;
  /** Over the sandbox's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What the program reads, then end of file. Default: of `exec` end of file at once, of `spawn` an open input. */
  readonly stdin?: Data | undefined;
  /** Between SIGTERM and SIGKILL, in milliseconds; default 200, at most 60,000. */
  readonly killGraceMs?: number | undefined;
  /** What happens beyond `maxOutputBytes`: the middle is left out (default), or the run ends as `output_limit`. */
  readonly onLimit?: "truncate" | "kill" | undefined;
  /** Stderr into stdout, in the order written; default false. */
  readonly mergeStderr?: boolean | undefined;
  /** A name that the sandbox knows, or `uid:gid`; default: the sandbox's own. Needs `exec.user`. */
  readonly user?: string | undefined;
}

/** How a process is started; its stdin stays open until `closeStdin` unless `stdin` is given. */
export interface SpawnProcessOptions extends ExecOptions {
  /** Runs it on a terminal of this size, of 1 to 1000 each way. Needs `exec.pty`. */
  readonly pty?: PtySize | undefined;
}

/** How a cell is run. */
export interface RunCodeOptions extends RunOptions {
  /** Default `python`. */
  readonly language?: KernelLanguage | undefined;
  /** Id of a kernel made by `kernel()`; default: the default kernel of the language. */
  readonly kernel?: string | undefined;
  /** Between the interrupt and the kill, in milliseconds; default 500, at most 60,000. */
  readonly interruptGraceMs?: number | undefined;
}

/** Which kernel is asked for. */
export interface KernelRequest {
  /** Default `python`. */
  readonly language?: KernelLanguage | undefined;
  /** An existing kernel of this sandbox, or the id of the one to make: 1 to 128 characters. Default: a new one. */
  readonly id?: string | undefined;
  /** Absolute, or relative to the sandbox's `workdir`, which is the default. */
  readonly cwd?: string | undefined;
  /** Over the sandbox's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The languages of {@link KernelLanguage}, as data. */
const kernelLanguages = ["python", "javascript", "typescript", "bash"] as const satisfies KernelLanguage[];

/** Parts of schemas that more than one of them has. */
export const parts = lazily(() => {
  const noNul = z.string().check(z.refine((text) => !text.includes("\0"), "must not contain NUL"));
  const path = noNul.check(z.minLength(1, "must not be empty"));
  const milliseconds = z.number().check(z.positive(), z.lte(2_147_483_647));
  const bytes = z.int().check(z.nonnegative());
  const envName = noNul.check(
    z.minLength(1),
    z.refine((name) => !name.includes("="), 'must not contain "="'),
  );
  const callback = z.custom<(...args: never) => unknown>((value) => typeof value === "function", "must be a function");
  const signal = z.instanceof(AbortSignal, { error: "must be an AbortSignal" });
  const data = z.union([z.string(), z.instanceof(Uint8Array), z.instanceof(ReadableStream)], {
    error: "must be a string, Uint8Array or ReadableStream",
  });
  return {
    /** Text that a program can be given. */
    noNul,
    path,
    milliseconds,
    bytes,
    env: z.record(envName, noNul),
    /** A function, of which no more can be known. */
    callback,
    signal,
    data,
    /** Of {@link RunOptions}. */
    run: {
      timeoutMs: z.optional(milliseconds),
      signal: z.optional(signal),
      maxOutputBytes: z.optional(bytes),
      onOutput: z.optional(callback),
    },
  };
});

const createOptions = lazily(() => {
  const { callback, data, env, milliseconds, path, signal } = parts();
  const named = z.string().check(z.minLength(1));
  const count = z.int().check(z.positive());
  return z.strictObject({
    name: z.optional(
      z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, "must be 1 to 128 of A-Z a-z 0-9 _ . -")),
    ),
    template: z.optional(named),
    image: z.optional(named),
    workdir: z.optional(path.check(z.startsWith("/", "must be absolute"))),
    env: z.optional(env),
    labels: z.optional(z.record(named, z.string())),
    resources: z.optional(
      z.strictObject({
        cpus: z.optional(z.number().check(z.positive())),
        memoryMiB: z.optional(count),
        diskMiB: z.optional(count),
        pids: z.optional(count),
      }),
    ),
    network: z.optional(
      z.union([z.enum(["none", "full", "packages"]), z.strictObject({ allow: z.array(named) })], {
        error: 'must be "none", "packages", "full" or { allow: ["example.com"] }',
      }),
    ),
    lifetime: z.optional(
      z.strictObject({
        ttlMs: z.optional(milliseconds),
        idleMs: z.optional(milliseconds),
        detached: z.optional(z.boolean()),
      }),
    ),
    ports: z.optional(z.array(z.int().check(z.gte(1), z.lte(65535)))),
    files: z.optional(z.record(path, data)),
    packages: z.optional(z.array(named)),
    snapshot: z.optional(named),
    approve: z.optional(callback),
    createTimeoutMs: z.optional(milliseconds),
    onProgress: z.optional(callback),
    signal: z.optional(signal),
    native: z.optional(z.unknown()),
  });
});

const grace = () => z.number().check(z.nonnegative(), z.lte(60_000));

const execOptions = lazily(() => {
  const { data, env, path, run } = parts();
  return z.strictObject({
    ...run,
    cwd: z.optional(path),
    env: z.optional(env),
    stdin: z.optional(data),
    killGraceMs: z.optional(grace()),
    onLimit: z.optional(z.enum(["truncate", "kill"])),
    mergeStderr: z.optional(z.boolean()),
    user: z.optional(z.string().check(z.minLength(1))),
  });
});

const cellOptions = lazily(() => z.strictObject({ ...parts().run, interruptGraceMs: z.optional(grace()) }));

const range = lazily(() => {
  const { bytes, signal } = parts();
  return { offset: z.optional(bytes), length: z.optional(bytes), signal: z.optional(signal) };
});

const schemas = {
  extend: () => parts().milliseconds,
  create: createOptions,
  exec: execOptions,
  spawn: lazily(() => {
    const size = z.int().check(z.gte(1), z.lte(1000));
    return z.extend(execOptions(), { pty: z.optional(z.strictObject({ columns: size, rows: size })) });
  }),
  cell: cellOptions,
  runCode: lazily(() =>
    z.extend(cellOptions(), {
      language: z.optional(z.enum(kernelLanguages)),
      kernel: z.optional(z.string().check(z.minLength(1))),
    }),
  ),
  kernel: lazily(() =>
    z.strictObject({
      language: z.optional(z.enum(kernelLanguages)),
      id: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
      cwd: z.optional(parts().path),
      env: z.optional(parts().env),
    }),
  ),
  data: () => parts().data,
  read: lazily(() => z.strictObject({ ...range(), maxBytes: z.optional(parts().bytes) })),
  readStream: lazily(() => z.strictObject(range())),
  write: lazily(() =>
    z.strictObject({
      mode: z.optional(z.enum(["truncate", "append", "exclusive"])),
      permissions: z.optional(z.int().check(z.gte(0), z.lte(0o7777))),
      ifModifiedAt: z.optional(z.date()),
      signal: z.optional(parts().signal),
    }),
  ),
  stat: lazily(() => z.strictObject({ followSymlinks: z.optional(z.boolean()) })),
  list: lazily(() => {
    const count = z.int().check(z.gte(1));
    return z.strictObject({
      recursive: z.optional(z.boolean()),
      maxDepth: z.optional(count),
      limit: z.optional(count),
    });
  }),
  watch: lazily(() => z.strictObject({ recursive: z.optional(z.boolean()), signal: z.optional(parts().signal) })),
  remove: lazily(() => z.strictObject({ recursive: z.optional(z.boolean()) })),
};

/**
 * Checks options at the public border.
 * @throws SandboxError `INVALID`, naming each wrong or unknown option
 */
export function checkOptions(operation: keyof typeof schemas, options: unknown): void {
  checkWith(schemas[operation](), operation, options);
}

/**
 * Checks options by a schema that is not of this file.
 * @throws SandboxError `INVALID`, naming each wrong or unknown option
 */
export function checkWith(schema: z.core.$ZodType, operation: string, options: unknown): void {
  const result = z.safeParse(schema, options, english);
  if (result.success) return;
  throw new SandboxError("INVALID", `${operation} options: ${describeIssues(result.error)}`, {
    operation,
    cause: result.error,
  });
}
