import type { Channel } from "../agent/channel.js";
import { settlesWithin } from "../deadline.js";
import { type Deferred, deferred } from "../deferred.js";
import { messageOf } from "../errors.js";
import { type CarrierOwner, LinkCarrier } from "./link-carrier.js";
import { acknowledgeBytes, DamagedError, type LinkEvent, windowBytes } from "./packets.js";
import { SentBytes } from "./sent-bytes.js";
import type { LinkStart } from "./start-link.js";
import type { Terminal } from "./terminal.js";

/** How long a link may be without use before it is given up, from the first connection that broke. */
const troubleMs = 45_000;
/** A box that stands still for a moment, to be copied, is not paused. */
const standstillMs = 2_000;
const endMs = 2_000;
const attemptMs = 15_000;
const answerMs = 10_000;
const longestPauseMs = 4_000;
const tickMs = 5_000;
/** The agent answers a ping in each. */
const silentTicks = 3;

/** How a link goes on when its connection breaks. */
export interface LinkOptions {
  /** Whether the box stands still, so that there is nothing to connect to until somebody resumes it. */
  readonly isPaused?: (() => Promise<boolean>) | undefined;
  /** Told when it was found so. */
  readonly onPaused?: (() => void) | undefined;
}

/**
 * A channel over a terminal: every byte once and in order, though connections come and go. It fails when the program on
 * the terminal has gone, or nothing could be reached for 45 s.
 */
export class Link implements Channel {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly #terminal: Terminal;
  readonly #key: Uint8Array;
  readonly #options: LinkOptions;
  readonly #sent = new SentBytes();
  readonly #ticking: NodeJS.Timeout;
  readonly #owner: CarrierOwner;
  #output: ReadableStreamDefaultController<Uint8Array> | undefined;
  #received = 0;
  #told = 0;
  #carrier: LinkCarrier | undefined;
  /** Settles when the guest has answered the resumption that is under way. */
  #answer: Deferred<void> | undefined;
  #restoring: Promise<void> | undefined;
  #attempt = new AbortController();
  #troubleSince: number | undefined;
  #suspended = false;
  #copies = 0;
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
    this.#options = options;
    this.readable = this.#makeReadable();
    this.writable = this.#makeWritable();
    this.#owner = this.#makeOwner();
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
  async whileCopied<Result>(copy: () => Promise<Result>): Promise<Result> {
    this.#copies += 1;
    try {
      return await copy();
    } finally {
      this.#copies -= 1;
    }
  }

  /** Lets go of the terminal, whose box is about to be paused. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    this.#attempt.abort(new Error("the box is paused"));
    await this.#drop();
  }

  /** Goes on after a pause. False when the program on the terminal has gone, and the link with it. */
  async resume(): Promise<boolean> {
    this.#suspended = false;
    this.#troubleSince = undefined;
    this.#attempt = new AbortController();
    await this.#restoring;
    if (!this.#carrier) await this.#restore(new Error("the box was paused"));
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
    this.#troubleSince = undefined;
    this.#output?.enqueue(fresh);
    if (this.#owner.owesAcknowledgement) carrier.pump();
  }

  #acknowledged(received: number): void {
    const before = this.#sent.size;
    this.#sent.acknowledge(received);
    if (this.#sent.size === before) return;
    this.#troubleSince = undefined;
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
    else if (!this.#restoring) this.#restore(cause).catch(() => undefined);
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

  #restore(cause: unknown): Promise<void> {
    this.#restoring ??= this.#reconnect(cause).finally(() => {
      this.#restoring = undefined;
      // It may have broken again before this was known.
      const again = !this.#carrier && !this.#over && !this.#suspended;
      return again ? this.#restore(new Error("the connection broke again")) : undefined;
    });
    return this.#restoring;
  }

  async #reconnect(cause: unknown): Promise<void> {
    this.#attempt = new AbortController();
    const began = this.#troubleSince !== undefined;
    this.#troubleSince ??= performance.now();
    let reason = cause;
    // One that broke before it was of any use does not come back at once.
    for (let pauseMs = began ? 200 : 0; !this.#over && !this.#suspended; pauseMs = nextPause(pauseMs)) {
      await this.#wait(pauseMs);
      try {
        if (!(await this.#connectAgain())) {
          this.#fail(new Error(`the program on its terminal has ended: ${messageOf(cause)}`));
        }
        return;
      } catch (error) {
        reason = error;
      }
      if (this.#over || this.#suspended) return;
      if (this.#copies > 0 || this.#troubleSince === undefined) this.#troubleSince = performance.now();
      const troubledMs = performance.now() - this.#troubleSince;
      if (troubledMs > standstillMs && (await this.#isPaused())) return;
      if (troubledMs > troubleMs) {
        this.#fail(new Error(`it was not reached for ${troubleMs / 1000} s: ${messageOf(reason)}`, { cause: reason }));
      }
    }
  }

  /** False when the program on the terminal has gone. */
  async #connectAgain(): Promise<boolean> {
    const signal = AbortSignal.any([this.#attempt.signal, AbortSignal.timeout(attemptMs)]);
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

  /** Found paused by whomever: what waits goes on waiting, until somebody resumes it. */
  async #isPaused(): Promise<boolean> {
    // Not to know is no answer: the next attempt shows.
    const paused = await this.#options.isPaused?.().catch(() => false);
    if (!paused || this.#over) return false;
    this.#suspended = true;
    this.#options.onPaused?.();
    return true;
  }

  async #wait(ms: number): Promise<void> {
    if (ms === 0) return;
    const { signal } = this.#attempt;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
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
    this.#attempt.abort(new Error("the link was closed"));
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

function nextPause(ms: number): number {
  return Math.min(longestPauseMs, Math.max(100, ms * 2));
}
