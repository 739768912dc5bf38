import { EventEmitter } from "./events.js";
import { existing, fileError } from "./files.js";
import { call, host, print } from "./host.js";
import { cwd, resolve, setCwd } from "./path.js";
import type { Driver } from "./program.js";
import { InputStream, OutputStream } from "./streams.js";
import type { Timers } from "./timers.js";

/** What the broker says of the job. */
export interface Job {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
}

/** The API that programs look for; the engine is QuickJS. */
const apiVersion = "20.0.0";
const engineVersion = "2025-09-13";
/** The signals that programs may handle, by their numbers on Linux. */
const signals: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** The global `process`. */
export class Process extends EventEmitter {
  readonly title = "node";
  readonly platform = "linux";
  readonly arch = "wasm32";
  readonly version = `v${apiVersion}`;
  readonly versions = { node: apiVersion, quickjs: engineVersion };
  readonly release = { name: "node" };
  readonly config = {};
  readonly features = {};
  readonly execArgv: string[] = [];
  readonly execPath = "/usr/bin/node";
  readonly argv0 = "node";
  readonly ppid = 1;
  readonly pid: number;
  argv: string[];
  readonly env: Record<string, string>;
  readonly stdout = new OutputStream(1);
  readonly stderr = new OutputStream(2);
  readonly stdin: InputStream;
  readonly #driver: Driver;
  readonly #startedMs = host().now();

  constructor(job: Job, argv: readonly string[], driver: Driver, timers: Timers) {
    super();
    this.pid = job.pid;
    this.argv = [this.execPath, ...argv];
    this.env = textEnvironment(job.env);
    this.stdin = new InputStream(timers);
    this.#driver = driver;
  }

  get exitCode(): unknown {
    return this.#driver.exitCode;
  }

  set exitCode(code: unknown) {
    this.#driver.exitCode = code === undefined || code === null ? undefined : wholeNumber(code);
  }

  exit = (code: unknown = this.exitCode): void => this.#driver.exit(wholeNumber(code ?? 0) & 0xff);
  reallyExit = (code: unknown = 0): void => call("exit", wholeNumber(code) & 0xff);
  abort = (): void => call("exit", "SIGABRT");

  cwd = (): string => cwd();

  chdir = (path: string): void => {
    const { info, path: real } = existing(resolve(path), true, "chdir");
    if ((info.mode & 0o170000) !== 0o040000) throw fileError("ENOTDIR", "chdir", path);
    setCwd(real);
  };

  kill = (pid: number, signal: string | number = "SIGTERM"): boolean => {
    if (pid !== this.pid) throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH", syscall: "kill" });
    const name = typeof signal === "number" ? Object.keys(signals).find((key) => signals[key] === signal) : signal;
    if (signal === 0) return true;
    if (!this.emit(name ?? "SIGTERM", name)) call("exit", name ?? "SIGTERM");
    return true;
  };

  nextTick = (callback: (...args: unknown[]) => unknown, ...args: unknown[]): void => {
    queueMicrotask(() => void callback(...args));
  };

  hrtime = Object.assign(
    (since?: readonly [number, number]): [number, number] => {
      const nanoseconds = host().now() * 1e6 - (since ? since[0] * 1e9 + since[1] : 0);
      return [Math.floor(nanoseconds / 1e9), Math.floor(nanoseconds % 1e9)];
    },
    { bigint: (): bigint => BigInt(Math.round(host().now() * 1e6)) },
  );

  uptime = (): number => (host().now() - this.#startedMs) / 1000;
  umask = (): number => 0o022;
  getuid = (): number => 0;
  getgid = (): number => 0;
  geteuid = (): number => 0;
  getegid = (): number => 0;

  emitWarning = (warning: unknown): void => {
    const text = warning instanceof Error ? `${warning.name}: ${warning.message}` : `Warning: ${String(warning)}`;
    print(2, `(node:${this.pid}) ${text}\n`);
  };

  override on(event: string | symbol, listener: (...args: never[]) => unknown): this {
    super.on(event, listener);
    this.#tell(event);
    return this;
  }

  override once(event: string | symbol, listener: (...args: never[]) => unknown): this {
    super.once(event, listener);
    this.#tell(event);
    return this;
  }

  override off(event: string | symbol, listener: (...args: never[]) => unknown): this {
    super.off(event, listener);
    this.#tell(event);
    return this;
  }

  /** A signal by its number, which the worker's loop has found. */
  receive(number: number): boolean {
    const name = Object.keys(signals).find((key) => signals[key] === number);
    return name !== undefined && this.emit(name, name, number);
  }

  /** The broker ends what does not handle a signal, from outside. */
  #tell(event: string | symbol): void {
    const number = typeof event === "string" && Object.hasOwn(signals, event) ? signals[event] : undefined;
    if (number !== undefined) call("handle", number, this.listenerCount(event) > 0 ? "caught" : "default");
  }
}

/** Values become text, as in Node. */
function textEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return new Proxy(
    { ...env },
    {
      set: (target, key, value) => Reflect.set(target, key, String(value)),
      defineProperty: (target, key, descriptor) =>
        Reflect.defineProperty(
          target,
          key,
          "value" in descriptor ? { ...descriptor, value: String(descriptor.value) } : descriptor,
        ),
    },
  );
}

function wholeNumber(code: unknown): number {
  const number = Number(code);
  if (Number.isInteger(number)) return number;
  const error = new TypeError(`The "code" argument must be an integer. Received ${String(code)}`);
  throw Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}
