import { type Deferred, deferred } from "../deferred.js";
import { ProtocolError } from "./frames.js";
import { windowBytes } from "./protocol.js";

/** Grants are joined until this much is owed: the window is large enough to wait. */
const grantBytes = windowBytes / 2;
/** Pieces that one data frame carries. */
const pieceBytes = 64 * 1024;
/** So many pieces of less than so many bytes in a row are joined: each costs its memory, whatever is in it. */
const mostSmall = 256;
const smallBytes = 256;

/** How a lane speaks to the other end. */
export interface LaneWire {
  data(bytes: Uint8Array): Promise<void>;
  end(total: number): void;
  credit(bytes: number): void;
  cancel(): void;
}

/** Bytes that come from the agent. What is not read stays in a window of bounded size and holds the sender up. */
export class IncomingLane {
  readonly stream: ReadableStream<Uint8Array>;
  /** Settles when the lane has ended, was cancelled or failed; never rejects. */
  readonly done: Promise<void>;
  readonly #done = deferred<void>();
  readonly #wire: LaneWire;
  readonly #waiting: Uint8Array[] = [];
  /** Of those that wait, how many of the last ones are small. */
  #small = 0;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wanted: Deferred<void> | undefined;
  #window = windowBytes;
  #owed = 0;
  #received = 0;
  #ended = false;
  #failure: unknown;
  #closed = false;
  #cancelled = false;

  constructor(wire: LaneWire) {
    this.#wire = wire;
    this.done = this.#done.promise;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#wanted = deferred<void>();
          const { promise } = this.#wanted;
          this.#serve();
          return promise;
        },
        cancel: () => {
          this.#cancelled = true;
          this.#waiting.length = 0;
          if (!this.#ended && !this.#closed) this.#wire.cancel();
          this.#close();
        },
      },
      // Nothing is taken before it is asked for.
      { highWaterMark: 0 },
    );
  }

  /** @throws ProtocolError when the agent sends nothing, more than it was granted, or after the end */
  add(bytes: Uint8Array): void {
    if (this.#ended) throw new ProtocolError("data came on a lane that has ended");
    if (bytes.length === 0) throw new ProtocolError("data came without bytes");
    if (bytes.length > this.#window) throw new ProtocolError("the agent sent more than it was granted");
    this.#received += bytes.length;
    // Data that was under way when the lane was cancelled.
    if (this.#closed) return;
    this.#window -= bytes.length;
    this.#waiting.push(bytes);
    this.#small = bytes.length < smallBytes ? this.#small + 1 : 0;
    this.#serve();
    if (this.#small >= mostSmall) this.#join();
  }

  /** Makes one piece of the small ones at the end. */
  #join(): void {
    const small = this.#waiting.splice(-this.#small);
    this.#small = 0;
    // Not a part of Buffer's pool, which it would keep.
    if (small.length > 0) this.#waiting.push(new Uint8Array(Buffer.concat(small)));
  }

  /** @param total What the agent says to have sent; another number means that bytes are missing. */
  end(total: number): void {
    if (this.#ended) throw new ProtocolError("a lane ended twice");
    this.#ended = true;
    if (total !== this.#received && !this.#cancelled) {
      this.fail(new ProtocolError(`${this.#received} bytes of ${total} arrived`));
    }
    this.#serve();
  }

  /** Lets the reader have what is there, and then the error. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#ended = true;
    this.#serve();
  }

  #serve(): void {
    if (this.#closed) return;
    const bytes = this.#wanted && this.#waiting.shift();
    if (bytes) {
      this.#grant(bytes.length);
      this.#controller?.enqueue(bytes);
      this.#wanted?.resolve();
      this.#wanted = undefined;
    }
    if (!this.#ended || this.#waiting.length > 0) return;
    if (this.#failure === undefined) this.#controller?.close();
    else this.#controller?.error(this.#failure);
    this.#close();
  }

  #grant(bytes: number): void {
    this.#owed += bytes;
    if (this.#owed < grantBytes || this.#ended) return;
    this.#wire.credit(this.#owed);
    this.#window += this.#owed;
    this.#owed = 0;
  }

  #close(): void {
    this.#closed = true;
    this.#wanted?.resolve();
    this.#done.resolve();
  }
}

/** Bytes that go to the agent, as far as it has granted. */
export class OutgoingLane {
  /** Settles when nothing more is sent: it has ended, or nobody wants it. */
  readonly over: Promise<void>;
  readonly #ending = deferred<void>();
  readonly #wire: LaneWire;
  #credit = windowBytes;
  #more: Deferred<void> | undefined;
  #queue: Promise<void> = Promise.resolve();
  #sent = 0;
  #over = false;

  constructor(wire: LaneWire) {
    this.#wire = wire;
    this.over = this.#ending.promise;
  }

  /** Whether nothing more is sent. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Resolves once all of it is on its way; at once when nobody wants it any more. */
  write(bytes: Uint8Array): Promise<void> {
    this.#queue = this.#queue.then(() => this.#write(bytes));
    return this.#queue;
  }

  /** Nothing more comes after what was written. Idempotent. */
  end(): Promise<void> {
    this.#queue = this.#queue.then(() => {
      if (this.#over) return;
      this.stop();
      this.#wire.end(this.#sent);
    });
    return this.#queue;
  }

  /** Tells the agent to forget what it got. */
  abandon(): void {
    if (this.#over) return;
    this.stop();
    this.#wire.cancel();
  }

  /** The agent takes so many more bytes. */
  grant(bytes: number): void {
    this.#credit += bytes;
    this.#wake();
  }

  /** Nobody wants more: what waits is dropped, and its writes resolve. */
  stop(): void {
    this.#over = true;
    this.#ending.resolve();
    this.#wake();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length && !this.#over; ) {
      if (this.#credit === 0) {
        this.#more ??= deferred<void>();
        await this.#more.promise;
        continue;
      }
      const piece = bytes.subarray(start, start + Math.min(pieceBytes, this.#credit));
      this.#credit -= piece.length;
      this.#sent += piece.length;
      start += piece.length;
      await this.#wire.data(piece);
    }
  }

  #wake(): void {
    this.#more?.resolve();
    this.#more = undefined;
  }
}
