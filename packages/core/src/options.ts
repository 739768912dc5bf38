import * as z from "zod";
import { SandboxError } from "./errors.js";
import { lazily } from "./lazily.js";
import type { KernelLanguage, PtySize } from "./provider.js";

/** Content of a file or of stdin: text goes as UTF-8. */
export type Data = string | Uint8Array | ReadableStream<Uint8Array>;

/** Caps on what a sandbox may use. */
export interface Resources {
  /** Processors, fractions allowed. */
  readonly cpus?: number | undefined;
  readonly memoryMiB?: number | undefined;
  readonly diskMiB?: number | undefined;
  readonly pids?: number | undefined;
}

/** When a sandbox ends by itself. */
export interface Lifetime {
  /** From creation, in milliseconds. */
  readonly ttlMs?: number | undefined;
  /** From the last use, in milliseconds. */
  readonly idleMs?: number | undefined;
  /** True: it outlives its creator and ends one lease after its last client. */
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
  /** Creates, or gets the living sandbox of this name; other options than the living one's are a `CONFLICT`. */
  readonly name?: string | undefined;
  /** A named starting image; default `python`. Not together with `image`. */
  readonly template?: string | undefined;
  /** The backend's own image. */
  readonly image?: string | undefined;
  /** Absolute; default: the provider's. */
  readonly workdir?: string | undefined;
  /** Environment of everything that runs in the sandbox. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly resources?: Resources | undefined;
  /** Default `none`; a provider that has no `network.none` refuses an explicit `none` and isolates nothing. */
  readonly network?: NetworkPolicy | undefined;
  readonly lifetime?: Lifetime | undefined;
  /** Ports that will be reached from outside. */
  readonly ports?: readonly number[] | undefined;
  /** Files by path, written before the first command. */
  readonly files?: Readonly<Record<string, Data>> | undefined;
  /**
   * Packages of the language of the template, installed before the first command and needing no network of the
   * sandbox: for Python, requirements such as `requests[socks]>=2,<3`; for Node and TypeScript, names with versions
   * such as `zod@^4`. A prefix says it where the template does not: `pip:numpy`, `npm:zod@^4`.
   */
  readonly packages?: readonly string[] | undefined;
  /** Id of a snapshot to start from. */
  readonly snapshot?: string | undefined;
  /** Asked before each command and cell; false or a throw refuses it (`DENIED`). The clock of the run stands still. */
  readonly approve?: ((request: ApprovalRequest) => boolean | Promise<boolean>) | undefined;
  /** In milliseconds; default 5 minutes. */
  readonly createTimeoutMs?: number | undefined;
  /** Told what creation is waiting for. */
  readonly onProgress?: ((message: string) => void) | undefined;
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
  /** Default: the sandbox's `workdir`. */
  readonly cwd?: string | undefined;
  /** Over the sandbox's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: end of file at once. */
  readonly stdin?: Data | undefined;
  /** Between SIGTERM and SIGKILL, in milliseconds; default 200. */
  readonly killGraceMs?: number | undefined;
  /** What happens at `maxOutputBytes`; default `truncate`. */
  readonly onLimit?: "truncate" | "kill" | undefined;
  /** Stderr into stdout, in the order written. */
  readonly mergeStderr?: boolean | undefined;
  readonly user?: string | undefined;
}

/** How a process is started; its stdin stays open until `closeStdin` unless `stdin` is given. */
export interface SpawnProcessOptions extends ExecOptions {
  readonly pty?: PtySize | undefined;
}

/** How a cell is run. */
export interface RunCodeOptions extends RunOptions {
  /** Default `python`. */
  readonly language?: KernelLanguage | undefined;
  /** Id of a kernel made by `kernel()`; default: the default kernel of the language. */
  readonly kernel?: string | undefined;
  /** Between the interrupt and the kill, in milliseconds; default 500. */
  readonly interruptGraceMs?: number | undefined;
}

/** Which kernel is asked for. */
export interface KernelRequest {
  readonly language?: KernelLanguage | undefined;
  /** An existing kernel of this sandbox, or the id of the one to make. */
  readonly id?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The languages of {@link KernelLanguage}, as data. */
const kernelLanguages = ["python", "javascript", "typescript", "bash"] as const satisfies KernelLanguage[];

/** Parts of schemas that more than one of them has. */
export const parts = lazily(() => {
  const noNul = z.string().refine((text) => !text.includes("\0"), "must not contain NUL");
  const path = noNul.min(1, "must not be empty");
  const milliseconds = z.number().positive().max(2_147_483_647);
  const bytes = z.number().int().nonnegative();
  const envName = noNul.min(1).refine((name) => !name.includes("="), 'must not contain "="');
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
      timeoutMs: milliseconds.optional(),
      signal: signal.optional(),
      maxOutputBytes: bytes.optional(),
      onOutput: callback.optional(),
    },
  };
});

const createOptions = lazily(() => {
  const { callback, data, env, milliseconds, path, signal } = parts();
  return z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, "must be 1 to 128 of A-Z a-z 0-9 _ . -")
      .optional(),
    template: z.string().min(1).optional(),
    image: z.string().min(1).optional(),
    workdir: path.startsWith("/", "must be absolute").optional(),
    env: env.optional(),
    labels: z.record(z.string().min(1), z.string()).optional(),
    resources: z
      .strictObject({
        cpus: z.number().positive().optional(),
        memoryMiB: z.int().positive().optional(),
        diskMiB: z.int().positive().optional(),
        pids: z.int().positive().optional(),
      })
      .optional(),
    network: z
      .union([z.enum(["none", "full", "packages"]), z.strictObject({ allow: z.array(z.string().min(1)) })], {
        error: 'must be "none", "packages", "full" or { allow: ["example.com"] }',
      })
      .optional(),
    lifetime: z
      .strictObject({
        ttlMs: milliseconds.optional(),
        idleMs: milliseconds.optional(),
        detached: z.boolean().optional(),
      })
      .optional(),
    ports: z.array(z.int().min(1).max(65535)).optional(),
    files: z.record(path, data).optional(),
    packages: z.array(z.string().min(1)).optional(),
    snapshot: z.string().min(1).optional(),
    approve: callback.optional(),
    createTimeoutMs: milliseconds.optional(),
    onProgress: callback.optional(),
    signal: signal.optional(),
    native: z.unknown().optional(),
  });
});

const execOptions = lazily(() => {
  const { data, env, path, run } = parts();
  return z.strictObject({
    ...run,
    cwd: path.optional(),
    env: env.optional(),
    stdin: data.optional(),
    killGraceMs: z.number().nonnegative().max(60_000).optional(),
    onLimit: z.enum(["truncate", "kill"]).optional(),
    mergeStderr: z.boolean().optional(),
    user: z.string().min(1).optional(),
  });
});

const cellOptions = lazily(() =>
  z.strictObject({ ...parts().run, interruptGraceMs: z.number().nonnegative().max(60_000).optional() }),
);

const range = lazily(() => {
  const { bytes, signal } = parts();
  return { offset: bytes.optional(), length: bytes.optional(), signal: signal.optional() };
});

const schemas = {
  extend: () => parts().milliseconds,
  create: createOptions,
  exec: execOptions,
  spawn: lazily(() =>
    execOptions().extend({
      pty: z.strictObject({ columns: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) }).optional(),
    }),
  ),
  cell: cellOptions,
  runCode: lazily(() =>
    cellOptions().extend({
      language: z.enum(kernelLanguages).optional(),
      kernel: z.string().min(1).optional(),
    }),
  ),
  kernel: lazily(() =>
    z.strictObject({
      language: z.enum(kernelLanguages).optional(),
      id: z.string().min(1).max(128).optional(),
      cwd: parts().path.optional(),
      env: parts().env.optional(),
    }),
  ),
  data: () => parts().data,
  read: lazily(() => z.strictObject({ ...range(), maxBytes: parts().bytes.optional() })),
  readStream: lazily(() => z.strictObject(range())),
  write: lazily(() =>
    z.strictObject({
      mode: z.enum(["truncate", "append", "exclusive"]).optional(),
      permissions: z.int().min(0).max(0o7777).optional(),
      ifModifiedAt: z.date().optional(),
      signal: parts().signal.optional(),
    }),
  ),
  stat: lazily(() => z.strictObject({ followSymlinks: z.boolean().optional() })),
  list: lazily(() =>
    z.strictObject({
      recursive: z.boolean().optional(),
      maxDepth: z.int().min(1).optional(),
      limit: z.int().min(1).optional(),
    }),
  ),
  watch: lazily(() => z.strictObject({ recursive: z.boolean().optional(), signal: parts().signal.optional() })),
  remove: lazily(() => z.strictObject({ recursive: z.boolean().optional() })),
};

/** One sentence for every problem that zod found, each with the path of the value. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message))
    .join("; ");
}

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
export function checkWith(schema: z.ZodType, operation: string, options: unknown): void {
  const result = schema.safeParse(options);
  if (result.success) return;
  throw new SandboxError("INVALID", `${operation} options: ${describeIssues(result.error)}`, {
    operation,
    cause: result.error,
  });
}
