import type { ChildOptions, Interpreter, JobPlace, Job as JobRequest } from "../protocol.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import { loadJavaScriptAssets, type SharedAssets } from "./assets.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";
import { GuestWorker } from "./guest-worker.js";
import { Job, type JobListener } from "./job.js";
import { inodeAt } from "./path-resolver.js";

/** Gives what was just started the processor for its first work. */
const refillDelayMs = 50;
/** For JavaScript: V8's stack must last longer than the one that QuickJS counts, or it breaks off in the midst of it. */
const stackSizeMb = 32;

/** The programs and kernels of a sandbox: each in a worker of its own, so many programs at a time, the others queued. */
export class Jobs {
  readonly #options: ChildOptions;
  readonly #files: FileSystem;
  readonly #observe: (id: string) => Omit<JobListener, "started">;
  readonly #jobs = new Map<string, Job>();
  readonly #queue: Job[] = [];
  readonly #warm: Record<Interpreter, GuestWorker[]> = { python: [], javascript: [] };
  /** Read when the first job of JavaScript needs them: a sandbox that has none keeps nothing ready for it. */
  #javaScript: ReturnType<typeof loadJavaScriptAssets> | undefined;
  #supplies: { readonly assets: SharedAssets; readonly caches: ScriptCaches } | undefined;
  #wantCaches = false;
  #nextPid = 2;

  /** Starts the threads of the warm workers, which wait for {@link supply}. */
  constructor(options: ChildOptions, files: FileSystem, observe: (id: string) => Omit<JobListener, "started">) {
    this.#options = options;
    this.#files = files;
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
    if (inodeAt(this.#files, place.cwd).kind !== "directory") throw new FileError("ENOTDIR", place.cwd);
    const pid = this.#nextPid++;
    const listener = this.#observe(id);
    return new Promise((resolve) => {
      const job: Job = new Job(pid, request, place, this.#files, {
        started: () => resolve(pid),
        output: (stream, bytes) => listener.output(stream, bytes),
        command: (argv, cwd) => listener.command(argv, cwd),
        ended: (exit) => {
          this.#jobs.delete(id);
          listener.ended(exit);
          resolve(pid);
          this.#startQueued();
        },
      });
      this.#jobs.set(id, job);
      this.#queue.push(job);
      this.#startQueued();
    });
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

  #startQueued(): void {
    while (this.#queue.length > 0) {
      const programs = this.running().filter((job) => job.request.kind === "program").length;
      const next = this.#queue.findIndex(
        (job) => job.ended || job.request.kind === "kernel" || programs < this.#options.maxWorkers,
      );
      const [job] = next < 0 ? [] : this.#queue.splice(next, 1);
      if (!job) return;
      if (!job.ended) job.start(this.#takeWorker(job.request.interpreter));
    }
  }

  #takeWorker(interpreter: Interpreter): GuestWorker {
    const warm = this.#warm[interpreter].filter((worker) => !worker.ended);
    const worker = warm.shift() ?? this.#create[interpreter]();
    this.#warm[interpreter] = warm;
    void worker.settled.then(() => setTimeout(() => this.#refill(), refillDelayMs));
    return worker;
  }

  #refill(): void {
    if (this.#queue.length > 0) return;
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
