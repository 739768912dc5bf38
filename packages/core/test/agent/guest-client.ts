import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { encodeFrame, type Frame, FrameDecoder } from "../../src/agent/frames.js";
import { type AgentRuntime, agentCommand } from "../../src/agent/guest-source.js";
import {
  type AgentFarewell,
  type AgentRequest,
  type Framing,
  frameType,
  hostPreamble,
  lane,
  type ProcessEvent,
  type SpawnRequest,
} from "../../src/agent/protocol.js";
import { type Deferred, deferred } from "../../src/deferred.js";

/** The interpreter itself: a version manager's shim takes longer than the whole agent. */
export const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

type Reply = { ok?: Record<string, unknown>; error?: { errno: string; message: string; path?: string } };
/** The requests, without what the client fills in. */
type Asked = AgentRequest | ({ readonly op: "spawn" } & Partial<SpawnRequest>) | { readonly op: string };

/** One stream as a test sees it: all that came, and promises for what is to come. */
export class GuestStream {
  readonly reply = deferred<Reply>();
  readonly exited = deferred<Extract<ProcessEvent, { event: "exited" }>>();
  readonly gone = deferred<void>();
  readonly lost = deferred<string>();
  readonly received = new Map<number, Buffer[]>();
  readonly ends = new Map<number, Deferred<number>>();
  /** Lanes that the agent wants no more of. */
  readonly refused = new Set<number>();
  /** Bytes that the agent has granted. */
  granted = 0;
  readonly id: number;
  readonly #client: GuestClient;
  readonly #grants: boolean;

  constructor(client: GuestClient, id: number, grants: boolean) {
    this.id = id;
    this.#client = client;
    this.#grants = grants;
    for (const number of Object.values(lane)) {
      this.received.set(number, []);
      this.ends.set(number, deferred<number>());
    }
  }

  take({ type, lane: number, payload }: Frame): void {
    if (type === frameType.response) this.reply.resolve(JSON.parse(payload.toString()));
    else if (type === frameType.event) this.#event(JSON.parse(payload.toString()));
    else if (type === frameType.data) this.#data(number, Buffer.from(payload));
    else if (type === frameType.end) this.ends.get(number)?.resolve(Number(payload.readBigUInt64BE()));
    else if (type === frameType.cancel) this.refused.add(number);
    else if (type === frameType.credit) this.granted += payload.readUInt32BE();
    else throw new Error(`frame of type ${type}`);
  }

  #event(event: ProcessEvent): void {
    if (event.event === "exited") this.exited.resolve(event);
    else if (event.event === "gone") this.gone.resolve();
    else this.lost.resolve(event.message);
  }

  #data(number: number, bytes: Buffer): void {
    this.received.get(number)?.push(bytes);
    if (this.#grants) this.grant(number, bytes.length);
  }

  bytes(number: number = lane.out): Buffer {
    return Buffer.concat(this.received.get(number) ?? []);
  }

  /** All of a lane, once it has ended. */
  async all(number: number = lane.out): Promise<Buffer> {
    const { error } = await this.reply.promise;
    if (error) throw new Error(`${error.errno}: ${error.message}`);
    const total = await this.ends.get(number)?.promise;
    const bytes = this.bytes(number);
    if (bytes.length !== total) throw new Error(`${bytes.length} bytes of ${total} came`);
    return bytes;
  }

  async text(number: number = lane.out): Promise<string> {
    return (await this.all(number)).toString();
  }

  grant(number: number, bytes: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(bytes);
    this.#client.frame(frameType.credit, this.id, number, payload);
  }

  data(bytes: Uint8Array | string, number: number = lane.in): void {
    this.#client.frame(frameType.data, this.id, number, Buffer.from(bytes));
  }

  end(total: number, number: number = lane.in): void {
    const payload = Buffer.alloc(8);
    payload.writeBigUInt64BE(BigInt(total));
    this.#client.frame(frameType.end, this.id, number, payload);
  }

  cancel(number: number): void {
    this.#client.frame(frameType.cancel, this.id, number, Buffer.alloc(0));
  }
}

/** A spawn that asks for nothing beyond its command, which it lacks. */
export const plainSpawn: SpawnRequest = {
  op: "spawn",
  command: [],
  cwd: null,
  env: {},
  stdin: false,
  mergeStderr: false,
  pty: null,
  control: false,
};

/** Speaks the frames of the protocol with an agent, and nothing more. */
export class GuestClient {
  readonly streams = new Map<number, GuestStream>();
  readonly farewell = deferred<AgentFarewell>();
  readonly ended = deferred<void>();
  readonly sink: Pick<Writable, "write">;
  readonly framing: Framing;
  readonly #decoder: FrameDecoder;
  #last = 0;

  constructor(sink: Pick<Writable, "write">, source: Pick<Readable, "on">, framing: Framing = "binary") {
    this.sink = sink;
    this.framing = framing;
    this.#decoder = new FrameDecoder(framing);
    source.on("data", (chunk: Buffer) => this.#hear(chunk));
    source.on("close", () => this.ended.resolve());
    sink.write(hostPreamble[framing]);
  }

  #hear(chunk: Buffer): void {
    for (const frame of this.#decoder.push(chunk)) {
      if (frame.type === frameType.farewell) this.farewell.resolve(JSON.parse(frame.payload.toString()));
      else if (frame.type !== frameType.pong) this.streams.get(frame.stream)?.take(frame);
    }
  }

  frame(type: number, stream: number, onLane: number, payload: Uint8Array): void {
    this.sink.write(encodeFrame(this.framing, type, stream, onLane, payload));
  }

  /** Opens a stream. `grants`: what comes is granted again at once. */
  open(request: Asked, grants = true): GuestStream {
    const stream = new GuestStream(this, request.op === "hello" ? 0 : ++this.#last, grants);
    this.streams.set(stream.id, stream);
    this.frame(frameType.request, stream.id, 0, Buffer.from(JSON.stringify(request)));
    return stream;
  }

  /** Asks for something that is answered at once. */
  async ask(request: Asked): Promise<Reply> {
    return this.open(request).reply.promise;
  }

  hello(options: Record<string, unknown> = {}): Promise<Reply> {
    const nothing = { env: {}, directories: [], ttlMs: null, idleMs: null, leaseMs: null };
    return this.ask({ op: "hello", version: 1, workdir: "/tmp", ...nothing, ...options });
  }

  spawn(command: readonly string[], options: Partial<SpawnRequest> = {}, grants = true): GuestStream {
    return this.open({ ...plainSpawn, ...options, command }, grants);
  }

  sh(script: string, options: Partial<SpawnRequest> = {}, grants = true): GuestStream {
    return this.spawn(["sh", "-c", script], options, grants);
  }

  kill(stream: GuestStream, signal = "SIGKILL", scope: "tree" | "group" = "tree"): Promise<Reply> {
    return this.ask({ op: "kill", process: stream.id, signal, scope });
  }
}

/** An agent as a process of this machine. */
export interface StartedAgent {
  readonly process: ChildProcess;
  readonly client: GuestClient;
  readonly stderr: () => string;
}

/** What runs a command as another user, who has no rights. */
export const asUser = (id: number) => ["setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups", "--"];

/** Starts an agent that is attached to its client; with `user` as that user, by root alone. */
export async function startAgent(
  options: {
    /** Default `python`. */
    readonly runtime?: AgentRuntime;
    readonly framing?: Framing;
    readonly user?: number;
    /** For `prlimit`: `--nproc=60`. */
    readonly limits?: readonly string[];
    readonly env?: Record<string, string>;
  } = {},
): Promise<StartedAgent> {
  const runtime = options.runtime ?? "python";
  const [, ...args] = await agentCommand(runtime);
  const as = options.user === undefined ? [] : asUser(options.user);
  const limits = options.limits ? ["prlimit", ...options.limits, "--"] : [];
  const interpreter = runtime === "python" ? python : process.execPath;
  const [file = interpreter, ...argv] = [...limits, ...as, interpreter, ...args];
  const child = spawn(file, argv, {
    cwd: "/",
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", ...options.env },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => undefined);
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  return { process: child, client: new GuestClient(child.stdin, child.stdout, options.framing), stderr: () => text };
}

/** Ends an agent as the death of its owner does, and waits for it. */
export async function stopAgent({ process: child }: Pick<StartedAgent, "process">): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, "exit");
  child.stdin?.destroy();
  await end;
}

/** Whether a process runs; a zombie does not. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    return !/^\d+ \(.*\) [ZX]/s.test(stat);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return false;
    throw error;
  }
}
