import { mostNested, mostShellsKept } from "../memory-limits.js";
import { runnerOf } from "../program-names.js";
import type { ChildOptions, Interpreter, JobPlace, Job as JobRequest } from "../protocol.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import { loadJavaScriptAssets, loadShellAssets, type SharedAssets, shellCommands } from "./assets.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";
import { GuestWorker } from "./guest-worker.js";
import { hostProgram } from "./host-commands.js";
import type { HttpRelay } from "./http-relay.js";
import { Job, type JobListener } from "./job.js";
import { inodeAt } from "./path-resolver.js";
import { checkProgram, scriptCommand } from "./script-command.js";

/** Gives what was just started the processor for its first work. After a kernel comes another later than after a program. */
const refillDelayMs = { program: 50, kernel: 1000 } as const;
/** A shell goes as deep as just-bash lets it. */
const shellStackSizeMb = 8;
/** For JavaScript: V8's stack must last longer than the one that QuickJS counts, or it breaks off in the midst of it. */
const stackSizeMb = 32;

type Observe = (id: string) => Omit<JobListener, "started" | "released">;

/** The programs and kernels of a sandbox: each in a worker of its own, so many programs at a time, the others queued. */
export class Jobs {
  readonly #options: ChildOptions;
  readonly #files: FileSystem;
  readonly #relay: HttpRelay;
  readonly #observe: Observe;
  readonly #jobs = new Map<string, Job>();
  readonly #queue: Job[] = [];
  /** Those that programs and cells have started. */
  readonly #nested = new Set<Job>();
  readonly #warm: Record<Interpreter, GuestWorker[]> = { python: [], javascript: [], shell: [] };
  /** Read when the first job of JavaScript needs them: a sandbox that has none keeps nothing ready for it. */
  #javaScript: ReturnType<typeof loadJavaScriptAssets> | undefined;
  #shell: ReturnType<typeof loadShellAssets> | undefined;
  #shellCommands: ReadonlySet<string> | undefined;
  #supplies: { readonly assets: SharedAssets; readonly caches: ScriptCaches } | undefined;
  #wantCaches = false;
  #nextPid = 2;

  /** Starts the threads of the warm workers, which wait for {@link supply}. */
  constructor(options: ChildOptions, files: FileSystem, relay: HttpRelay, observe: Observe) {
    this.#options = options;
    this.#files = files;
    this.#relay = relay;
    this.#observe = observe;
    this.#refill();
  }

  /** Gives what interpreters are made from. Before the first job. */
  supply(assets: SharedAssets, caches: ScriptCaches): void {
    this.#supplies = { assets, caches };
    this.#wantCaches = !caches.runtime;
    for (const worker of this.#warm.python) this.#supply(worker);
  }

  /** Starts a job when it is its turn, and gives its process id once it runs. One that is ended before never starts. */
  start(id: string, request: JobRequest, place: JobPlace): Promise<number> {
    const listener = this.#observe(id);
    return new Promise((resolve) => {
      const { pid } = this.#launch(id, this.#asScript(request, place), place, {
        started: () => resolve(pid),
        output: (stream, bytes) => listener.output(stream, bytes),
        command: listener.command,
        ended: (exit) => {
          listener.ended(exit);
          resolve(pid);
        },
      });
    });
  }

  get #commands(): ReadonlySet<string> {
    this.#shellCommands ??= shellCommands(this.#options);
    return this.#shellCommands;
  }

  /** A file that is a script of an interpreter is that interpreter's job. */
  #asScript(request: JobRequest, place: JobPlace): JobRequest {
    if (request.kind === "kernel" || request.interpreter !== "shell") return request;
    return { ...request, ...scriptCommand(this.#files, request.argv, place, this.#commands) };
  }

  /**
   * Queues a job.
   * @param nested Started by a program, which may wait for it: it waits for nobody, and where too many run is refused.
   * @throws FileError for its directory
   */
  #launch(
    id: string,
    request: JobRequest,
    place: JobPlace,
    listener: Omit<JobListener, "released">,
    nested = false,
  ): Job {
    if (inodeAt(this.#files, place.cwd).kind !== "directory") throw new FileError("ENOTDIR", place.cwd);
    if (nested && this.#nested.size >= mostNested) throw new FileError("EAGAIN", "too many programs");
    let programs = 0;
    const job: Job = new Job(
      this.#nextPid++,
      request,
      place,
      { files: this.#files, relay: this.#relay },
      {
        started: () => listener.started(),
        output: (stream, bytes) => listener.output(stream, bytes),
        command: listener.command,
        ended: (exit) => {
          this.#jobs.delete(id);
          this.#nested.delete(job);
          listener.ended(exit);
          this.#startQueued();
        },
        released: (worker) => this.#keep(worker),
      },
      ({ runner: wanted, argv, stdin }, { cwd, env }, owner) => {
        const { command } = listener;
        const runner = wanted === "any" ? runnerOf(argv) : wanted;
        if (runner === "host") return hostProgram(command, argv, cwd, owner);
        if (wanted === "any" && runner === "shell") {
          checkProgram(this.#files, argv[0] ?? "", { cwd, env }, this.#commands);
        }
        programs += 1;
        const program = { kind: "program", interpreter: runner, argv, stdin, mergeStderr: false } as const;
        const there = { ...place, cwd, env };
        const own = { ...owner, command, started: () => undefined };
        // A shell's programs take their turn with all others: it is for them that it waits.
        const isNested = nested || request.interpreter !== "shell";
        return this.#launch(`${id}/${programs}`, this.#asScript(program, there), there, own, isNested);
      },
    );
    this.#jobs.set(id, job);
    if (nested) this.#nested.add(job);
    this.#queue.push(job);
    // The caller knows the job before it hears of it.
    queueMicrotask(() => this.#startQueued());
    return job;
  }

  /** Resolves when every warm interpreter waits for its job, or has failed to come up. */
  async warmed(): Promise<void> {
    await Promise.all(this.#warm.python.map((worker) => worker.settled));
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Jobs that have a worker. */
  running(): Job[] {
    return [...this.#jobs.values()].filter((job) => job.started);
  }

  /** Shells that are kept for their next job. */
  get idleShells(): number {
    return this.#warm.shell.filter(({ ended }) => !ended).length;
  }

  #startQueued(): void {
    while (this.#queue.length > 0) {
      const next = this.#queue.findIndex(
        (job) =>
          job.ended ||
          job.request.kind === "kernel" ||
          this.#nested.has(job) ||
          this.#hasRoom(job.request.interpreter === "shell"),
      );
      const [job] = next < 0 ? [] : this.#queue.splice(next, 1);
      if (!job) return;
      if (!job.ended) job.start(this.#takeWorker(job.request));
    }
  }

  /** Shells are counted apart: they wait for programs that they have started. */
  #hasRoom(shell: boolean): boolean {
    const alike = this.running().filter(
      (job) =>
        job.request.kind === "program" && !this.#nested.has(job) && (job.request.interpreter === "shell") === shell,
    );
    return alike.length < this.#options.maxWorkers;
  }

  /** Has a shell wait for its next job, with what it has compiled. */
  #keep(worker: GuestWorker): void {
    const kept = this.#warm.shell.filter(({ ended }) => !ended);
    if (kept.length < mostShellsKept) this.#warm.shell = [worker, ...kept];
    else worker.terminate();
  }

  #takeWorker({ interpreter, kind }: JobRequest): GuestWorker {
    const warm = this.#warm[interpreter].filter((worker) => !worker.ended);
    const worker = warm.shift() ?? this.#create[interpreter]();
    this.#warm[interpreter] = warm;
    void worker.settled.then(() => setTimeout(() => this.#refill(), refillDelayMs[kind]));
    return worker;
  }

  #refill(): void {
    if (this.#queue.length > 0) return;
    // Shells are kept when they are done, and need no other.
    for (const interpreter of this.#javaScript ? (["python", "javascript"] as const) : (["python"] as const)) {
      const warm = this.#warm[interpreter];
      while (warm.length < this.#options.warmWorkers) warm.push(this.#create[interpreter]());
    }
  }

  readonly #create: Readonly<Record<Interpreter, () => GuestWorker>> = {
    python: () => {
      const worker = new GuestWorker(`${this.#options.artifacts}/worker.mjs`);
      this.#supply(worker);
      return worker;
    },
    javascript: () => {
      this.#javaScript ??= loadJavaScriptAssets(this.#options);
      return new GuestWorker(`${this.#options.artifacts}/javascript-worker.mjs`, this.#javaScript, stackSizeMb);
    },
    shell: () => {
      this.#shell ??= loadShellAssets(this.#options);
      return new GuestWorker(`${this.#options.artifacts}/shell-worker.mjs`, this.#shell, shellStackSizeMb);
    },
  };

  #supply(worker: GuestWorker): void {
    if (!this.#supplies) return;
    const { assets, caches } = this.#supplies;
    const keep = (made: ScriptCaches) => {
      this.#supplies = { assets, caches: made };
    };
    worker.supply(assets, caches, this.#wantCaches ? keep : undefined);
    this.#wantCaches = false;
  }
}
