import type { ChildOptions, Interpreter, JobPlace, Job as JobRequest } from "../protocol.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import type { WorkerAssets } from "../worker/worker.js";
import { loadJavaScriptAssets, type SharedAssets } from "./assets.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";
import { GuestWorker } from "./guest-worker.js";
import { Job, type JobListener } from "./job.js";
import { inodeAt } from "./path-resolver.js";

/** For JavaScript: V8's stack must last longer than the one that QuickJS counts, or it breaks off in the midst of it. */
const stackSizeMb = 32;

/** The programs and kernels of a sandbox: each in a worker of its own, so many programs at a time, the others queued. */
export class Jobs {
  readonly #options: ChildOptions;
  readonly #assets: SharedAssets;
  readonly #files: FileSystem;
  readonly #observe: (id: string) => Omit<JobListener, "started">;
  readonly #jobs = new Map<string, Job>();
  readonly #queue: Job[] = [];
  readonly #warm: Record<Interpreter, GuestWorker[]> = { python: [], javascript: [] };
  /** Read when the first job of JavaScript needs them: a sandbox that has none keeps nothing ready for it. */
  #javaScript: ReturnType<typeof loadJavaScriptAssets> | undefined;
  #caches: ScriptCaches;
  #wantCaches: boolean;
  #nextPid = 2;

  constructor(
    options: ChildOptions,
    assets: SharedAssets,
    caches: ScriptCaches,
    files: FileSystem,
    observe: (id: string) => Omit<JobListener, "started">,
  ) {
    this.#options = options;
    this.#assets = assets;
    this.#caches = caches;
    this.#wantCaches = !caches.runtime;
    this.#files = files;
    this.#observe = observe;
    this.#refill();
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
    setImmediate(() => this.#refill());
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
    python: () => this.#createPython(),
    javascript: () => {
      this.#javaScript ??= loadJavaScriptAssets(this.#options);
      return new GuestWorker(`${this.#options.artifacts}/javascript-worker.mjs`, this.#javaScript, { stackSizeMb });
    },
  };

  #createPython(): GuestWorker {
    const want = this.#wantCaches;
    this.#wantCaches = false;
    const keep = (caches: ScriptCaches) => {
      this.#caches = caches;
    };
    const data: Omit<WorkerAssets, "link"> = { ...this.#assets, caches: this.#caches, wantCaches: want };
    return new GuestWorker(`${this.#options.artifacts}/worker.mjs`, data, { onCaches: want ? keep : undefined });
  }
}
