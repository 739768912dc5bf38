import type { Channel } from "../agent/channel.js";
import { settlesWithin } from "../deadline.js";
import { type Deferred, deferred } from "../deferred.js";
import { messageOf } from "../errors.js";
import { type CarrierOwner, LinkCarrier } from "./link-carrier.js";
import { acknowledgeBytes, DamagedError, type LinkEvent, windowBytes } from "./packets.js";
import { type LinkOptions, Restorer } from "./restorer.js";
import { SentBytes } from "./sent-bytes.js";
import type { LinkStart } from "./start-link.js";
import type { Terminal } from "./terminal.js";

const endMs = 2_000;
const answerMs = 10_000;
const tickMs = 5_000;
/** The agent answers a ping in each. */
const silentTicks = 3;

/**
 * A channel over a terminal: every byte once and in order, though connections come and go. It fails when the program on
 * the terminal has gone, or nothing could be reached for 45 s.
 */
export class Link implements Channel {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly #terminal: Terminal;
  readonly #key: Uint8Array;
  readonly #sent = new SentBytes();
  readonly #ticking: NodeJS.Timeout;
  readonly #owner: CarrierOwner;
  #output: ReadableStreamDefaultController<Uint8Array> | undefined;
  #received = 0;
  #told = 0;
  #carrier: LinkCarrier | undefined;
  /** Settles when the guest has answered the resumption that is under way. */
  #answer: Deferred<void> | undefined;
  readonly #restorer: Restorer;
  #suspended = false;
  #over = false;
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;
  #referenced = true;
  #keepAlive: NodeJS.Timeout | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  constructor(terminal: Terminal, start: LinkStart, options: LinkOptions = {}) {
    this.#terminal = terminal;
    this.#key = start.key;
    this.readable = this.#makeReadable();
    this.writable = this.#makeWritable();
    this.#owner = this.#makeOwner();
    this.#restorer = this.#makeRestorer(options);
    this.#ticking = setInterval(() => this.#tick(), tickMs);
    this.#ticking.unref();
    this.#carrier = new LinkCarrier(this.#owner, start.connection, start.reader);
    this.#carrier.begin(start.nonce, start.rest);
  }

  /** Nothing can be heard for now: silence says nothing about the agent. */
  get stalled(): boolean {
    return this.#carrier === undefined || this.#answer !== undefined;
  }

  /** While the box is copied it may stand still for long: that is no pause, and no reason to give it up. */
  whileCopied<Result>(copy: () => Promise<Result>): Promise<Result> {
    return this.#restorer.whileCopied(copy);
  }

  /** Lets go of the terminal, whose box is about to be paused. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    this.#restorer.giveUp(new Error("the box is paused"));
    await this.#drop();
  }

  /** Goes on after a pause. False when the program on the terminal has gone, and the link with it. */
  async resume(): Promise<boolean> {
    this.#suspended = false;
    await this.#restorer.anew();
    if (!this.#carrier) await this.#restorer.restore(new Error("the box was paused"));
    return !this.#over;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  ref(): void {
    this.#referenced = true;
    this.#refer();
  }

  unref(): void {
    this.#referenced = false;
    this.#refer();
  }

  #makeReadable(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#output = controller;
        },
        pull: () => {
          this.#wakeReader?.();
          this.#wakeReader = undefined;
        },
        cancel: () => {
          this.#output = undefined;
        },
      },
      { highWaterMark: windowBytes, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  #makeWritable(): WritableStream<Uint8Array> {
    return new WritableStream<Uint8Array>({
      write: async (bytes) => {
        this.#requireOpen();
        this.#sent.add(bytes);
        this.#carrier?.pump();
        while (this.#sent.size >= windowBytes && !this.#over) {
          await new Promise<void>((resolve) => {
            this.#wakeWriter = resolve;
          });
        }
        this.#requireOpen();
      },
    });
  }

  #requireOpen(): void {
    if (this.#over) throw this.#failure ?? new Error("the link was closed");
  }

  #makeOwner(): CarrierOwner {
    const link = this;
    return {
      maxSendBytes: this.#terminal.maxSendBytes,
      sent: this.#sent,
      get received() {
        return link.#received;
      },
      get owesAcknowledgement() {
        return link.#received - link.#told >= acknowledgeBytes;
      },
      told: (received) => {
        this.#told = received;
      },
      hear: (event, carrier) => this.#hear(event, carrier),
      room: () => this.#room(),
      broke: (carrier, cause) => this.#broke(carrier, cause),
    };
  }

  #makeRestorer(options: LinkOptions): Restorer {
    const link = this;
    return new Restorer(options, {
      get connected() {
        return link.#carrier !== undefined;
      },
      get over() {
        return link.#over || link.#suspended;
      },
      connect: (signal) => this.#connectAgain(signal),
      fail: (failure) => this.#fail(failure),
      stop: () => {
        this.#suspended = true;
      },
    });
  }

  /** What nobody reads stays where it is, after a window of it. */
  async #room(): Promise<void> {
    while (this.#output && (this.#output.desiredSize ?? 1) <= 0 && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #hear(event: LinkEvent, carrier: LinkCarrier): void {
    if (carrier !== this.#carrier) return;
    if (event.type === "resumed") {
      if (this.#answer) this.#sent.rewind(event.received);
      else this.#acknowledged(event.received);
      this.#answer?.resolve();
      this.#answer = undefined;
      this.#told = this.#received;
      carrier.go();
      return;
    }
    this.#acknowledged(event.received);
    if (event.type === "lost") {
      // A connection that breaks meanwhile is told to `broke`.
      this.#ask(carrier).catch(() => undefined);
    } else if (event.offset > this.#received) {
      throw new DamagedError(`${event.offset - this.#received} bytes are missing`);
    } else if (event.type === "data") {
      this.#take(event.payload.subarray(this.#received - event.offset), carrier);
    } else {
      this.#end();
    }
  }

  #take(fresh: Buffer, carrier: LinkCarrier): void {
    if (fresh.length === 0) return;
    this.#received += fresh.length;
    this.#restorer.well();
    this.#output?.enqueue(fresh);
    if (this.#owner.owesAcknowledgement) carrier.pump();
  }

  #acknowledged(received: number): void {
    const before = this.#sent.size;
    this.#sent.acknowledge(received);
    if (this.#sent.size === before) return;
    this.#restorer.well();
    this.#wakeWriter?.();
    this.#wakeWriter = undefined;
  }

  /** The guest's agent has ended, and all that it said is here. */
  #end(): void {
    this.#output?.close();
    this.#output = undefined;
  }

  #tick(): void {
    const carrier = this.#carrier;
    if (carrier?.isSilentFor(silentTicks)) {
      this.#broke(carrier, new Error(`nothing was heard for ${(silentTicks * tickMs) / 1000} s`));
    }
  }

  #broke(carrier: LinkCarrier, cause: unknown): void {
    if (carrier !== this.#carrier) return;
    this.#answer?.reject(cause);
    this.#answer = undefined;
    this.#drop().catch(() => undefined);
    if (this.#over || this.#suspended) return;
    if (cause instanceof RangeError)
      this.#fail(new Error(`its guest breaks the rules of the link: ${messageOf(cause)}`));
    else if (!this.#restorer.busy) this.#restorer.restore(cause).catch(() => undefined);
  }

  async #drop(): Promise<void> {
    const carrier = this.#carrier;
    this.#carrier = undefined;
    this.#answer?.reject(new Error("the connection was given up"));
    this.#answer = undefined;
    this.#refer();
    // It is of no use any more, whether it can be closed or not.
    await carrier?.close().catch(() => undefined);
  }

  /** False when the program on the terminal has gone. */
  async #connectAgain(signal: AbortSignal): Promise<boolean> {
    const connection = await this.#terminal.reconnect(signal);
    if (!connection) return false;
    if (this.#over || this.#suspended) {
      await connection.close();
      return true;
    }
    const carrier = new LinkCarrier(this.#owner, connection);
    this.#carrier = carrier;
    this.#refer();
    await this.#ask(carrier);
    return true;
  }

  async #ask(carrier: LinkCarrier): Promise<void> {
    this.#answer ??= deferred<void>();
    const { promise } = this.#answer;
    const timer = setTimeout(() => this.#broke(carrier, new Error("its guest did not answer")), answerMs);
    carrier.resume(this.#key);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(failure: Error): void {
    if (this.#over) return;
    this.#failure = failure;
    this.#output?.error(failure);
    this.#output = undefined;
    this.#finish();
  }

  #finish(): void {
    this.#over = true;
    clearInterval(this.#ticking);
    this.#restorer.giveUp(new Error("the link was closed"));
    this.#wakeReader?.();
    this.#wakeWriter?.();
    this.#refer();
  }

  async #close(): Promise<void> {
    const carrier = this.#carrier;
    const open = !this.#over && !this.stalled;
    this.#finish();
    const told = open && (await carrier?.sayEnd());
    await this.#drop();
    this.#end();
    if (!told && !this.#suspended) await this.#endTerminal();
  }

  /** What cannot be ended now ends by itself when it has heard nothing for a minute. */
  async #endTerminal(): Promise<void> {
    const ending = this.#terminal.end().catch(() => undefined);
    await settlesWithin(ending, endMs);
  }

  /** Without a connection there is nothing else that keeps the program alive. */
  #refer(): void {
    this.#carrier?.refer(this.#referenced ? "ref" : "unref");
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    if (this.#referenced && !this.#carrier && !this.#over) this.#keepAlive = setInterval(() => undefined, 60_000);
  }
}
