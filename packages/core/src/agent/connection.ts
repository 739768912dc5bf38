import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type Deferred, deferred } from "../deferred.js";
import { SandboxError } from "../errors.js";
import type { Channel } from "./channel.js";
import { encodeFrame, type Frame, FrameDecoder, ProtocolError } from "./frames.js";
import { LaneDuplex } from "./lane-duplex.js";
import { IncomingLane, type LaneWire, OutgoingLane } from "./lanes.js";
import { parseMessage } from "./messages.js";
import {
  type AgentError,
  type AgentFarewell,
  type AgentRequest,
  type Framing,
  firstAgentStream,
  frameType,
  hostPreamble,
  lane as laneNumber,
  maxConnections,
  maxRequestBytes,
  type ProcessEvent,
} from "./protocol.js";

const pingMs = 5_000;
/** Pings in a row without any sign of life before the agent is given up. */
const maxSilentPings = 6;
/** How long its backend may take to say why a box was lost. */
const explanationMs = 3_000;
const copiedBytes = 16 * 1024;
const empty = new Uint8Array();

/** What an agent answered: a value, or why not. */
export type AgentReply = { readonly ok: unknown } | { readonly error: AgentError };

/** One conversation with the agent, opened by a request. */
export interface AgentStream {
  readonly id: number;
  /** Rejects only when the connection is lost. */
  readonly reply: Promise<AgentReply>;
  readonly incoming: ReadonlyMap<number, IncomingLane>;
  readonly outgoing: ReadonlyMap<number, OutgoingLane>;
}

/** What a request brings beside its reply. */
export interface StreamPlan {
  readonly incoming?: readonly number[];
  readonly outgoing?: readonly number[];
  readonly onEvent?: (event: ProcessEvent) => void;
  /** Told when the connection is lost before the stream is over. */
  readonly onLost?: (error: SandboxError) => void;
  /** True: an open stream of this kind does not keep the program alive. */
  readonly background?: boolean;
}

interface OpenStream extends AgentStream {
  readonly plan: StreamPlan;
  readonly answer: Deferred<AgentReply>;
}

/** What a connection knows of the box that it leads to. */
export interface ConnectionOptions {
  readonly framing: Framing;
  readonly provider: string;
  readonly sandboxId: string;
  readonly explainLoss?: (() => Promise<string | undefined>) | undefined;
  /** What to do when it was lost; default: create a new one. */
  readonly lossAdvice?: string | undefined;
  /** Serves what programs of the box connect to; absent: the agent was not asked to take any connection. */
  readonly onConnection?: ((connection: Duplex) => void) | undefined;
}

/** The host's end of a channel: frames, streams, credit and heartbeat. Believes nothing that breaks the protocol. */
export class AgentConnection {
  /** Settles when the channel is of no more use; never rejects. */
  readonly closed: Promise<void>;
  readonly #channel: Channel;
  readonly #framing: Framing;
  readonly #where: { readonly provider: string; readonly sandboxId: string };
  readonly #explainLoss: ConnectionOptions["explainLoss"];
  readonly #lossAdvice: string;
  readonly #onConnection: ConnectionOptions["onConnection"];
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #streams = new Map<number, OpenStream>();
  readonly #closed = deferred<void>();
  #count = 0;
  /** The last stream that the agent has opened, and how many of them are open. */
  #lastOpened = firstAgentStream - 1;
  #connections = 0;
  #untoldCloses = 0;
  #held = 0;
  #cells = 0;
  #silentPings = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #farewell: AgentFarewell | undefined;
  #losing = false;
  #failure: SandboxError | undefined;

  constructor(channel: Channel, options: ConnectionOptions) {
    this.closed = this.#closed.promise;
    this.#channel = channel;
    this.#framing = options.framing;
    this.#where = { provider: options.provider, sandboxId: options.sandboxId };
    this.#explainLoss = options.explainLoss;
    this.#lossAdvice = options.lossAdvice ?? "create a new one";
    this.#onConnection = options.onConnection;
    this.#writer = channel.writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    this.#put(Buffer.from(hostPreamble[options.framing], "latin1"));
    this.#read();
    this.#heartbeat = setInterval(() => this.#beat(), pingMs);
    this.#heartbeat.unref();
  }

  /** Why nothing can be asked any more. */
  get failure(): SandboxError | undefined {
    return this.#failure;
  }

  /** Whether nothing can be heard for now, and may be again. */
  get stalled(): boolean {
    return this.#failure === undefined && this.#channel.stalled === true;
  }

  /** Asks for something. @throws SandboxError once the connection is lost; `TOO_LARGE` for a request that is too long */
  open(request: AgentRequest, plan: StreamPlan = {}): AgentStream {
    if (this.#failure) throw this.#failure;
    const payload = Buffer.from(JSON.stringify(request));
    if (payload.length > maxRequestBytes) {
      const message = `the request (${request.op}) is longer than ${maxRequestBytes} bytes: shorten its arguments, or hand them over in a file`;
      throw new SandboxError("TOO_LARGE", message, { ...this.#where, operation: request.op });
    }
    const id = request.op === "hello" ? 0 : ++this.#count;
    if (!plan.background) this.#hold(1);
    // First of all: the agent works on it while the rest is made here.
    this.#send(frameType.request, id, 0, payload);
    return this.#stream(id, plan);
  }

  #stream(id: number, plan: StreamPlan): OpenStream {
    const answer = deferred<AgentReply>();
    const stream: OpenStream = {
      id,
      plan,
      answer,
      reply: answer.promise,
      incoming: new Map(plan.incoming?.map((lane) => [lane, new IncomingLane(this.#wire(id, lane))])),
      outgoing: new Map(plan.outgoing?.map((lane) => [lane, new OutgoingLane(this.#wire(id, lane))])),
    };
    this.#streams.set(id, stream);
    return stream;
  }

  /** Forgets a stream that is over. */
  over(stream: AgentStream): void {
    const open = this.#streams.get(stream.id);
    if (!open) return;
    this.#streams.delete(stream.id);
    if (!open.plan.background) this.#hold(-1);
  }

  /** While a cell runs, the box is in use and the program kept alive, though nothing may be said for long. */
  async whileBusy<T>(work: Promise<T>): Promise<T> {
    this.#cells += 1;
    this.#hold(1);
    try {
      return await work;
    } finally {
      this.#cells -= 1;
      this.#hold(-1);
    }
  }

  /** Work on the box by another way than this one is use of it too. */
  touch(): void {
    this.#send(frameType.ping, 0, 0, Uint8Array.of(1));
  }

  /** An answer that is given at once has not come: its channel may know why. */
  suspect(): void {
    if (!this.#failure) this.#channel.silent?.();
  }

  /** Gives the channel up. Everything that waits is told the reason. */
  async close(reason: SandboxError): Promise<void> {
    this.#fail(reason);
    await this.#channel.close();
  }

  #wire(stream: number, lane: number): LaneWire {
    return {
      data: (bytes) => this.#send(frameType.data, stream, lane, bytes),
      end: (total) => {
        const payload = Buffer.alloc(8);
        payload.writeBigUInt64BE(BigInt(total));
        this.#send(frameType.end, stream, lane, payload);
      },
      credit: (bytes) => {
        const payload = Buffer.alloc(4);
        payload.writeUInt32BE(bytes);
        this.#send(frameType.credit, stream, lane, payload);
      },
      cancel: () => {
        this.#send(frameType.cancel, stream, lane, empty);
      },
    };
  }

  #send(type: number, stream: number, lane: number, payload: Uint8Array): Promise<void> {
    return this.#put(encodeFrame(this.#framing, type, stream, lane, payload));
  }

  /** Resolves when the channel has taken the bytes; a channel that breaks is told to all that wait. */
  async #put(bytes: Uint8Array): Promise<void> {
    if (this.#failure) return;
    try {
      await this.#writer.write(bytes);
    } catch (cause) {
      this.#lose(`its channel broke: ${cause instanceof Error ? cause.message : cause}`, cause);
    }
  }

  async #read(): Promise<void> {
    const decoder = new FrameDecoder(this.#framing);
    const reader = this.#channel.readable.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#failure) break;
        this.#silentPings = 0;
        for (const frame of decoder.push(value)) this.#hear(frame);
      }
      this.#lose(decoder.started ? "its agent has ended" : "its agent did not start");
    } catch (cause) {
      const what = cause instanceof ProtocolError ? "its agent breaks the protocol" : "its channel broke";
      this.#lose(`${what}: ${cause instanceof Error ? cause.message : cause}`, cause);
    }
    // What still comes is of no interest; a channel that cannot be cancelled is closed already.
    await reader.cancel().catch(() => undefined);
  }

  #hear(frame: Frame): void {
    if (frame.type === frameType.pong) return;
    if (frame.type === frameType.farewell) {
      this.#farewell = parseMessage("farewell", frame.payload.toString());
      return;
    }
    if (frame.type === frameType.open) {
      this.#opened(frame.stream);
      return;
    }
    const stream = this.#streams.get(frame.stream);
    if (!stream) {
      // One that is over on this side, not one that was never opened.
      if (frame.stream > (frame.stream < firstAgentStream ? this.#count : this.#lastOpened))
        throw new ProtocolError(`stream ${frame.stream} was never opened`);
      return;
    }
    this.#hearOn(stream, frame);
  }

  /** A program of the box has made a connection. */
  #opened(id: number): void {
    if (!this.#onConnection) throw new ProtocolError("a connection came that nobody asked for");
    if (id <= this.#lastOpened) throw new ProtocolError(`stream ${id} was used before`);
    // One counts for the agent until it has heard that it is closed.
    if (this.#connections + this.#untoldCloses >= maxConnections) {
      throw new ProtocolError(`more than ${maxConnections} connections are open`);
    }
    this.#lastOpened = id;
    this.#connections += 1;
    const stream = this.#stream(id, {
      incoming: [laneNumber.out],
      outgoing: [laneNumber.in],
      onLost: (error) => connection.destroy(error),
      background: true,
    });
    // Nobody waits for an answer: it was not asked for.
    stream.reply.catch(() => undefined);
    const connection = LaneDuplex.over(stream, () => this.#closeOpened(stream));
    this.#onConnection(connection);
  }

  async #closeOpened(stream: AgentStream): Promise<void> {
    this.over(stream);
    this.#connections -= 1;
    this.#untoldCloses += 1;
    await this.#send(frameType.close, stream.id, 0, empty);
    this.#untoldCloses -= 1;
  }

  #hearOn(stream: OpenStream, { type, lane, payload }: Frame): void {
    if (type === frameType.response) {
      stream.answer.resolve(parseMessage("response", payload.toString()) as AgentReply);
    } else if (type === frameType.event) {
      stream.plan.onEvent?.(parseMessage("processEvent", payload.toString()));
    } else if (type === frameType.data) {
      // A small piece must not keep the whole chunk that it came in; a large one is most of it.
      const small = payload.length < copiedBytes;
      const bytes = small
        ? new Uint8Array(payload)
        : new Uint8Array(payload.buffer, payload.byteOffset, payload.length);
      incomingLane(stream, lane).add(bytes);
    } else if (type === frameType.end) {
      if (payload.length !== 8) throw new ProtocolError("an end without its total");
      incomingLane(stream, lane).end(Number(payload.readBigUInt64BE()));
    } else if (type === frameType.credit) {
      if (payload.length !== 4) throw new ProtocolError("a credit without its amount");
      outgoingLane(stream, lane).grant(payload.readUInt32BE());
    } else if (type === frameType.cancel) {
      outgoingLane(stream, lane).stop();
    } else {
      throw new ProtocolError(`an agent does not send frames of type ${type}`);
    }
  }

  #beat(): void {
    // Its own loop may be busy for the time of one.
    if (this.stalled || this.#silentPings >= 2) this.#channel.silent?.();
    if (this.stalled) {
      this.#silentPings = 0;
      return;
    }
    // A program that was stopped for a while finds one silent ping, not many: its timer ran once.
    if (this.#silentPings >= maxSilentPings) {
      this.#lose(`its agent has been silent for ${(maxSilentPings * pingMs) / 1000} s`);
      return;
    }
    this.#silentPings += 1;
    this.#send(frameType.ping, 0, 0, Uint8Array.of(this.#cells > 0 ? 1 : 0));
  }

  /** Until it is told why, what waits goes on waiting, and so does what is asked meanwhile. */
  async #lose(what: string, cause?: unknown): Promise<void> {
    if (this.#losing || this.#failure) return;
    this.#losing = true;
    clearInterval(this.#heartbeat);
    const { provider, sandboxId } = this.#where;
    const farewell = this.#farewell;
    if (farewell && farewell.reason !== "protocol" && farewell.reason !== "shutdown") {
      const message = `sandbox ${sandboxId} has reached the end of its lifetime (${farewell.reason}): create a new one`;
      this.#fail(new SandboxError("EXPIRED", message, { provider, sandboxId }));
    } else {
      const detail = [what, farewell?.message ?? (await this.#explanation())].filter(Boolean).join(": ");
      const message = `sandbox ${sandboxId} was lost: ${detail}: ${this.#lossAdvice}`;
      this.#fail(new SandboxError("SANDBOX_LOST", message, { provider, sandboxId, cause }));
    }
    // Whatever its box still does is without a master; the provider sees to its end.
    this.#channel.close().catch(() => undefined);
  }

  async #explanation(): Promise<string | undefined> {
    const given = new AbortController();
    const late = pause(explanationMs, "why is not known", { signal: given.signal });
    late.catch(() => undefined);
    try {
      return await Promise.race([this.#explainLoss?.(), late]);
    } catch (error) {
      return `why is not known (${error instanceof Error ? error.message : error})`;
    } finally {
      given.abort();
    }
  }

  #fail(error: SandboxError): void {
    if (this.#failure) return;
    this.#failure = error;
    clearInterval(this.#heartbeat);
    for (const stream of this.#streams.values()) {
      stream.answer.reject(error);
      for (const lane of stream.incoming.values()) lane.fail(error);
      for (const lane of stream.outgoing.values()) lane.stop();
      stream.plan.onLost?.(error);
    }
    this.#streams.clear();
    this.#held = 0;
    this.#channel.unref?.();
    this.#closed.resolve();
  }

  /** The channel keeps the program alive while something is waited for. */
  #hold(change: 1 | -1): void {
    const before = this.#held;
    this.#held = Math.max(0, before + change);
    if (before === 0 && this.#held > 0) this.#channel.ref?.();
    else if (before > 0 && this.#held === 0) this.#channel.unref?.();
  }
}

function incomingLane(stream: AgentStream, lane: number): IncomingLane {
  const found = stream.incoming.get(lane);
  if (found) return found;
  throw new ProtocolError(`data came on lane ${lane} of stream ${stream.id}, which has none`);
}

function outgoingLane(stream: AgentStream, lane: number): OutgoingLane {
  const found = stream.outgoing.get(lane);
  if (found) return found;
  throw new ProtocolError(`lane ${lane} of stream ${stream.id} does not go to the agent`);
}
