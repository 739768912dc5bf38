import type { ChildOptions, JobPlace, Job as JobRequest } from "../protocol.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import type { SharedAssets } from "./assets.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";
import { GuestWorker } from "./guest-worker.js";
import { Job, type JobListener } from "./job.js";
import { inodeAt } from "./path-resolver.js";

/** Gives what was just started the processor for its first work. */
const refillDelayMs = 50;

/** The programs and kernels of a sandbox: each in a worker of its own, so many programs at a time, the others queued. */
export class Jobs {
  readonly #options: ChildOptions;
  readonly #files: FileSystem;
  readonly #observe: (id: string) => Omit<JobListener, "started">;
  readonly #jobs = new Map<string, Job>();
  readonly #queue: Job[] = [];
  #warm: GuestWorker[] = [];
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
    for (const worker of this.#warm) this.#supply(worker);
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

  /** Resolves when every warm interpreter waits for its job, or has failed to come up. */
  async warmed(): Promise<void> {
    await Promise.all(this.#warm.map((worker) => worker.settled));
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
      if (!job.ended) job.start(this.#takeWorker());
    }
  }

  #takeWorker(): GuestWorker {
    this.#warm = this.#warm.filter((worker) => !worker.ended);
    const worker = this.#warm.shift() ?? this.#createWorker();
    void worker.settled.then(() => setTimeout(() => this.#refill(), refillDelayMs));
    return worker;
  }

  #refill(): void {
    if (this.#queue.length > 0) return;
    while (this.#warm.length < this.#options.warmWorkers) this.#warm.push(this.#createWorker());
  }

  #createWorker(): GuestWorker {
    const worker = new GuestWorker(`${this.#options.artifacts}/worker.mjs`);
    this.#supply(worker);
    return worker;
  }

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
