import { randomBytes, randomUUID } from "node:crypto";
import { constants } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { deferred } from "../deferred.js";
import { SandboxError } from "../errors.js";
import type { ProcessExit, ProviderProcess, SpawnOptions } from "../provider.js";
import { runGuest } from "./guest-run.js";
import { guestSource } from "./guest-source.js";
import { OutputPipe } from "./output-pipe.js";
import type { PlainExec, PlainPlace } from "./plain-place.js";
import { type SpawnEnd, SpawnReport } from "./spawn-report.js";

/** How long after the program's end its outputs may be silent before they are taken to be over, in milliseconds. */
const quietMs = 150;
/** Likewise where what it wrote has a long way: while something that it started lives on, and when nothing does. */
const slowQuietMs = { survived: 600, alone: 5_000 };
/** Between two looks whether what a program left behind still runs, in milliseconds. */
const firstLookMs = 200;
const lastLookMs = 2_000;

/** A program started by the backend, and what grew from it. */
export class PlainProcess implements ProviderProcess {
  readonly id = randomUUID();
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  readonly #place: PlainPlace;
  readonly #mark: string;
  readonly #exec: PlainExec;
  readonly #report: SpawnReport;
  readonly #outputs: readonly [OutputPipe, OutputPipe];
  readonly #started = deferred<number>();
  readonly #exited = deferred<ProcessExit>();
  readonly #gone = deferred<void>();
  readonly #sent = new Set<string>();
  #pid = 0;
  #heardAt = performance.now();
  #over = false;
  #stdoutBefore = "";

  /** Starts a program. @throws SandboxError `FILE_NOT_FOUND` or `NOT_DIRECTORY` for a bad `cwd`; `SANDBOX_LOST` */
  static async start(
    place: PlainPlace,
    command: readonly string[],
    options: SpawnOptions & { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ): Promise<PlainProcess> {
    const token = randomBytes(12).toString("hex");
    const [spawn, program] = await Promise.all([guestSource("spawn"), guestSource("program")]);
    const merge = options.mergeStderr ? "merge" : "";
    const { PATH = "", ...others } = options.env;
    const mark = place.marks.take();
    const args = ["sh", "-c", spawn, "sh", token, mark, merge, program, options.cwd, PATH, ...command];
    const env = Object.entries(others).map(([name, value]) => `${name}=${value}`);
    const exec = await place.start(args, { env, stdin: options.stdin }).catch((error) => {
      place.marks.release(mark);
      throw error;
    });
    const process = new PlainProcess(place, exec, token, mark);
    process.#pid = await process.#started.promise.catch((refused) => {
      throw refused instanceof SandboxError ? refused : badDirectory(String(refused), options.cwd, place);
    });
    return process;
  }

  private constructor(place: PlainPlace, exec: PlainExec, token: string, mark: string) {
    this.#place = place;
    this.#exec = exec;
    this.#mark = mark;
    const resume = () => exec.resume();
    this.#outputs = [new OutputPipe(resume), new OutputPipe(resume)];
    const [stdout, stderr] = this.#outputs;
    this.stdout = stdout.stream;
    this.stderr = stderr.stream;
    this.exited = this.#exited.promise;
    this.gone = this.#gone.promise;
    const release = () => place.marks.release(mark);
    this.gone.then(release, release);
    this.#report = new SpawnReport(token, {
      started: (outcome) => {
        if ("pid" in outcome) this.#started.resolve(outcome.pid);
        else this.#started.reject(outcome.refused);
      },
      ended: (end) => this.#onEnd(end),
      output: (bytes) => stderr.push(bytes),
    });
    exec.listen({
      stdout: (bytes) => {
        this.#heardAt = performance.now();
        if (!this.#report.begun) this.#stdoutBefore += Buffer.from(bytes).toString("utf8", 0, 1000);
        stdout.push(bytes);
      },
      stderr: (bytes) => {
        this.#heardAt = performance.now();
        this.#report.push(bytes);
      },
      // Before its start is told there is nobody who could read: its output may come faster than that.
      wanted: () => !this.#report.begun || (stdout.wanted && stderr.wanted),
    });
    exec.closed.then(() => this.#onClose());
  }

  get pid(): number {
    return this.#pid;
  }

  async write(data: Uint8Array): Promise<void> {
    if (this.#over) return;
    const over = this.exited.then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([this.#exec.write(data), over]);
  }

  async closeStdin(): Promise<void> {
    this.#exec.end();
  }

  async kill(signal: string): Promise<void> {
    this.#sent.add(signal);
    if (await this.#tell(signal.replace(/^SIG/, ""))) this.#whenLast();
  }

  /** The sandbox was lost. */
  abandon(failure: SandboxError): void {
    this.#lose(failure);
    this.#exec.destroy();
  }

  /** Sends a signal to the whole tree, or none with `LOOK`; true when nothing of it is left. */
  async #tell(signal: string): Promise<boolean> {
    const { stdout } = await runGuest(this.#place, "kill", [
      this.#mark,
      signal,
      ...this.#place.marks.around(this.#mark),
    ]);
    return stdout.toString("utf8").trim() === "gone";
  }

  #onEnd({ how, code, survived }: SpawnEnd): void {
    this.#over = true;
    const number = code - 128;
    const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
    // Not every shell says that a child was interrupted; that we did it says as much.
    const signaled = signal !== undefined && (how !== "exited" || this.#sent.has(signal) || signal === "SIGPIPE");
    this.#exited.resolve(signaled ? { exitCode: null, signal, oom: how === "oom" } : { exitCode: code });
    if (survived) this.#watch();
    else this.#gone.resolve();
    this.#endWhenQuiet(survived);
  }

  #whenLast(): void {
    // Nothing is left, so the end is about to be told; it comes first.
    this.exited.then(
      () => this.#gone.resolve(),
      (error) => this.#gone.reject(error),
    );
  }

  /** What a program left behind is nobody's child that we could wait for. */
  async #watch(): Promise<void> {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    this.gone.then(settle, settle);
    for (let wait = firstLookMs; !settled; wait = Math.min(wait * 2, lastLookMs)) {
      await new Promise((resolve) => setTimeout(resolve, wait).unref());
      if (settled) return;
      try {
        if (await this.#tell("LOOK")) this.#gone.resolve();
      } catch (error) {
        this.#gone.reject(error);
      }
    }
  }

  /** A background child may hold the outputs open for ever; the program's own have come by the time nothing more does. */
  async #endWhenQuiet(survived: boolean): Promise<void> {
    let closed = false;
    this.#exec.closed.then(() => {
      closed = true;
    });
    const slowMs = survived ? slowQuietMs.survived : slowQuietMs.alone;
    const silentMs = this.#exec.caughtUp ? slowMs : quietMs;
    const isQuiet = () => !this.#exec.held && performance.now() - this.#heardAt >= silentMs;
    while (!closed) {
      await pause(quietMs / 3);
      if (closed || !isQuiet()) continue;
      await this.#exec.caughtUp?.();
      if (this.#exec.caughtUp) await pause(quietMs);
      if (isQuiet()) break;
    }
    this.#exec.destroy();
  }

  async #onClose(): Promise<void> {
    this.#report.flush();
    const failure = this.#report.ended ? undefined : await this.#endUntold();
    for (const output of this.#outputs) {
      if (failure) output.fail(failure);
      else output.end();
    }
  }

  /** The streams closed before an end was told: our own program in there was killed, or the box, or the way to it. */
  async #endUntold(): Promise<SandboxError | undefined> {
    const { code, failure } = await this.#exec.ending();
    this.#over = true;
    if (code === null) {
      const reason = failure ?? this.#place.lost();
      this.#lose(reason);
      return reason;
    }
    if (!this.#report.begun) {
      const { provider, sandboxId } = this.#place;
      const message = `no shell was started in sandbox ${sandboxId}: ${this.#stdoutBefore}`;
      this.#started.reject(new SandboxError("UNAVAILABLE", message, { provider, operation: "exec" }));
    }
    this.#onEnd({ how: code > 128 ? "signaled" : "exited", code, survived: true });
    return undefined;
  }

  #lose(reason: SandboxError): void {
    this.#started.reject(reason);
    this.#exited.reject(reason);
    this.#gone.reject(reason);
  }
}

function badDirectory(reason: string, cwd: string, { provider, sandboxId }: PlainPlace): SandboxError {
  const details = { provider, operation: "exec", sandboxId };
  const subject = `exec in ${JSON.stringify(cwd)}`;
  switch (reason) {
    case "ENOENT":
      return new SandboxError("FILE_NOT_FOUND", `${subject}: there is no such directory: make it first`, details);
    case "ENOTDIR":
      return new SandboxError("NOT_DIRECTORY", `${subject}: it is a file: name a directory`, details);
    case "EACCES":
      return new SandboxError("PERMISSION", `${subject}: this user may not enter it`, details);
    default:
      return new SandboxError(
        "UNAVAILABLE",
        `${subject}: the image's shell cannot do it (${reason}): use another image`,
        details,
      );
  }
}
