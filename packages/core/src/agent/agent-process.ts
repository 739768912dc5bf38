import { deferred } from "../deferred.js";
import { SandboxError } from "../errors.js";
import type { ProcessExit, ProviderProcess, PtySize, SpawnOptions } from "../provider.js";
import { answerOf, refusal } from "./ask.js";
import type { AgentConnection, AgentReply, AgentStream } from "./connection.js";
import { ProtocolError } from "./frames.js";
import type { IncomingLane } from "./lanes.js";
import { checked } from "./messages.js";
import { type AgentRequest, lane, type ProcessEvent } from "./protocol.js";

/** How long an agent that runs may take to start a program or to deliver a signal, in milliseconds. */
const promptMs = 1_000;

/** Where a process belongs. */
export interface AgentProcessOwner {
  readonly connection: AgentConnection;
  readonly provider: string;
  /** Makes the ids of processes unique in a box with several clients. */
  readonly client: string;
}

/** A program that the agent of a box runs under a supervisor. */
export class AgentProcess implements ProviderProcess {
  readonly id: string;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  readonly #owner: AgentProcessOwner;
  readonly #stream: AgentStream;
  readonly #exited = deferred<ProcessExit>();
  readonly #gone = deferred<void>();
  #pid = 0;
  #exitTold = false;

  /** Starts a program. @throws SandboxError `FILE_NOT_FOUND`, `NOT_DIRECTORY`, … for a bad `cwd` */
  static async start(
    owner: AgentProcessOwner,
    command: readonly string[],
    options: SpawnOptions,
    control = false,
  ): Promise<AgentProcess> {
    options.signal?.throwIfAborted();
    const process = new AgentProcess(owner, command, options, control);
    const reply = await promptly(owner.connection, process.#stream.reply);
    if ("error" in reply) {
      owner.connection.over(process.#stream);
      const { errno } = reply.error;
      const subject = subjectOf(errno, command, options);
      const next = options.user !== undefined && errno === "EINVAL" ? nextUser : undefined;
      throw refusal(reply.error, { operation: "exec", subject, provider: owner.provider, next });
    }
    process.#pid = checked("started", reply.ok).pid;
    return process;
  }

  private constructor(owner: AgentProcessOwner, command: readonly string[], options: SpawnOptions, control: boolean) {
    this.#owner = owner;
    this.exited = this.#exited.promise;
    this.gone = this.#gone.promise;
    this.#stream = owner.connection.open(
      {
        op: "spawn",
        command,
        cwd: options.cwd ?? null,
        env: options.env ?? {},
        stdin: options.stdin,
        mergeStderr: options.mergeStderr ?? false,
        pty: options.pty ?? null,
        ...(options.user !== undefined && { user: options.user }),
        ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
        control,
      },
      {
        incoming: control ? [lane.out, lane.err, lane.controlOut] : [lane.out, lane.err],
        outgoing: [...(options.stdin ? [lane.in] : []), ...(control ? [lane.controlIn] : [])],
        onEvent: (event) => this.#onEvent(event),
        onLost: (error) => this.#lose(error),
        background: control,
      },
    );
    this.id = `${owner.client}-${this.#stream.id}`;
    this.stdout = this.#incoming(lane.out).stream;
    this.stderr = this.#incoming(lane.err).stream;
    // Not before the last of its lanes: what an end comes late for would wait for it for ever.
    const lanes = Array.from(this.#stream.incoming.values(), ({ done }) => done);
    Promise.all([...lanes, this.#gone.promise.catch(() => undefined)]).then(() => owner.connection.over(this.#stream));
  }

  get pid(): number {
    return this.#pid;
  }

  async write(data: Uint8Array): Promise<void> {
    await this.#stream.outgoing.get(lane.in)?.write(data);
  }

  async closeStdin(): Promise<void> {
    await this.#stream.outgoing.get(lane.in)?.end();
  }

  get stalled(): boolean {
    return this.#owner.connection.stalled;
  }

  async kill(signal: string): Promise<void> {
    await this.#signal(signal, "tree");
  }

  /** Does what Ctrl-C on a terminal does: SIGINT to the process group of the leader. */
  async interrupt(): Promise<void> {
    await this.#signal("SIGINT", "group");
  }

  /** Feeds descriptor 3 of a program that was started with `control`. */
  async control(data: Uint8Array): Promise<void> {
    await this.#stream.outgoing.get(lane.controlIn)?.write(data);
  }

  /** Settles when such a program reads descriptor 3 no more. */
  get controlOver(): Promise<void> {
    return this.#stream.outgoing.get(lane.controlIn)?.over ?? Promise.resolve();
  }

  /** What such a program writes on descriptor 4. */
  get controlOut(): ReadableStream<Uint8Array> {
    return this.#incoming(lane.controlOut).stream;
  }

  async resize(size: PtySize): Promise<void> {
    await this.#ask({ op: "resize", process: this.#stream.id, columns: size.columns, rows: size.rows }, "resize");
  }

  async #signal(signal: string, scope: "tree" | "group"): Promise<void> {
    await this.#ask({ op: "kill", process: this.#stream.id, signal, scope }, `kill ${signal}`);
  }

  async #ask(request: AgentRequest, what: string): Promise<void> {
    const { connection, provider } = this.#owner;
    const stream = connection.open(request);
    try {
      const reply = await promptly(connection, stream.reply);
      if ("error" in reply && reply.error.errno === "EINVAL") {
        const message = `${what}: ${reply.error.message}: ${nextStep[request.op] ?? "correct what was asked"}`;
        throw new SandboxError("INVALID", message, { provider, operation: request.op });
      }
      answerOf(reply, { operation: request.op, subject: `process ${this.id}`, provider });
    } finally {
      connection.over(stream);
    }
  }

  #incoming(number: number): IncomingLane {
    const found = this.#stream.incoming.get(number);
    if (found) return found;
    throw new SandboxError("INVALID", `process ${this.id} was started without lane ${number}`, {
      provider: this.#owner.provider,
    });
  }

  #onEvent(event: ProcessEvent): void {
    if (event.event === "exited") {
      this.#exitTold = true;
      this.#exited.resolve(exitOf(event));
      this.#stream.outgoing.get(lane.in)?.stop();
    } else if (event.event === "gone") {
      this.#finish();
    } else {
      this.#lose(
        new SandboxError("SANDBOX_LOST", `process ${this.id}: ${event.message}: create a new sandbox`, {
          provider: this.#owner.provider,
        }),
      );
    }
  }

  #finish(): void {
    if (!this.#exitTold) {
      this.#exited.reject(new ProtocolError("the agent told the end of a tree before that of its leader"));
    }
    this.#gone.resolve();
    for (const outgoing of this.#stream.outgoing.values()) outgoing.stop();
  }

  #lose(error: SandboxError): void {
    this.#exited.reject(error);
    this.#gone.reject(error);
  }
}

/** What to do about a request that a process cannot be asked. */
const nextStep: Readonly<Record<string, string>> = {
  kill: "use a name such as SIGTERM",
  resize: "start it with pty: { columns, rows }, each at least 1",
};

const nextUser = 'name one of those in the image, or give numeric ids as "1000:1000"';

/** Waits for an answer that an agent gives at once: why it does not, its channel may know by another way. */
async function promptly(connection: AgentConnection, reply: Promise<AgentReply>): Promise<AgentReply> {
  const late = setTimeout(() => connection.suspect(), promptMs);
  late.unref();
  try {
    return await reply;
  } finally {
    clearTimeout(late);
  }
}

/** What of a request could not be had. */
function subjectOf(errno: string, command: readonly string[], { cwd, user }: SpawnOptions): string {
  if (user !== undefined && (errno === "ENOTSUP" || errno === "EINVAL")) return `option "user" ${JSON.stringify(user)}`;
  if (errno === "ENOTSUP") return 'option "pty"';
  const aboutProgram = ["EAGAIN", "ENOMEM", "EMFILE", "E2BIG", "EILSEQ", "EINVAL"].includes(errno);
  return aboutProgram ? `command ${JSON.stringify(command[0])}` : `cwd ${JSON.stringify(cwd ?? ".")}`;
}

function exitOf(event: Extract<ProcessEvent, { event: "exited" }>): ProcessExit {
  const usage = { cpuMs: event.cpuMs ?? undefined, peakMemoryBytes: event.peakMemoryBytes ?? undefined };
  if (event.signal === null) return { exitCode: event.code ?? 0, usage };
  return { exitCode: null, signal: event.signal, ...(event.oom && { oom: true }), usage };
}
