import { randomBytes } from "node:crypto";
import {
  encodeResume,
  headerBytes,
  type LinkEvent,
  nonceBytes,
  PacketReader,
  packetKind,
  sealPacket,
} from "./packets.js";
import type { SentBytes } from "./sent-bytes.js";
import type { TerminalConnection } from "./terminal.js";

/** How long the last word may take. */
const farewellMs = 1_000;

/** What a carrier needs to know of its link. */
export interface CarrierOwner {
  readonly maxSendBytes: number;
  readonly sent: SentBytes;
  /** Bytes of the guest that have arrived without a gap. */
  readonly received: number;
  /** Whether the guest should be told what has arrived, though there is nothing else to say. */
  readonly owesAcknowledgement: boolean;
  told(received: number): void;
  hear(event: LinkEvent, carrier: LinkCarrier): void;
  /** Resolves once there is room for more of the guest's bytes. */
  room(): Promise<void>;
  broke(carrier: LinkCarrier, cause: unknown): void;
}

/** One connection of a link, until it breaks. */
export class LinkCarrier {
  readonly #owner: CarrierOwner;
  readonly #connection: TerminalConnection;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #packets = new PacketReader();
  /** Data may go. */
  #ready = false;
  /** To be said before anything else. */
  #urgent: Buffer | undefined;
  #scheduled = false;
  /** Asked to send since it last began to. */
  #wanted = false;
  #sending: Promise<void> | undefined;
  #closed = false;
  #listening = false;
  /** Whether it reads, so that silence is the guest's. */
  #reading = false;
  #silentTicks = 0;

  constructor(
    owner: CarrierOwner,
    connection: TerminalConnection,
    reader: ReadableStreamDefaultReader<Uint8Array> = connection.output.getReader(),
  ) {
    this.#owner = owner;
    this.#connection = connection;
    this.#reader = reader;
  }

  /** Goes on where a new link has been started: its first resumption is under way. */
  begin(nonce: Uint8Array, rest: Uint8Array): void {
    this.#packets.expect(nonce);
    this.#ready = true;
    this.#listen(rest);
  }

  /** Asks a living guest to go on over this connection. */
  resume(key: Uint8Array): void {
    const nonce = randomBytes(nonceBytes);
    this.#ready = false;
    this.#urgent = encodeResume(key, nonce, this.#owner.received);
    this.#packets.expect(nonce);
    this.pump();
    if (!this.#listening) this.#listen(new Uint8Array());
  }

  /** The guest has agreed. */
  go(): void {
    this.#ready = true;
    this.pump();
  }

  /** Sends what there is, together with what is said in the same turn of the event loop. */
  pump(): void {
    if (this.#closed) return;
    this.#wanted = true;
    if (this.#scheduled || this.#sending) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#wanted = false;
      this.#sending ??= this.#sendAll().finally(() => {
        this.#sending = undefined;
        // Between the last look for more and now there may have been some.
        if (this.#wanted) this.pump();
      });
    });
  }

  /** To be called every few seconds. True when the guest has been silent for that many of these. */
  isSilentFor(ticks: number): boolean {
    this.#silentTicks = this.#reading ? this.#silentTicks + 1 : 0;
    return this.#silentTicks > ticks;
  }

  /** Tells the guest to end; false when it may not have heard it. */
  async sayEnd(): Promise<boolean> {
    this.#ready = false;
    const packet = Buffer.alloc(headerBytes);
    sealPacket(packet, packetKind.end, 0, this.#owner.received);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), farewellMs);
    });
    const said = (async () => {
      await this.#sending;
      if (this.#closed) return false;
      await this.#connection.send(packet);
      return true;
    })();
    try {
      return await Promise.race([said.catch(() => false as const), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#connection.close();
  }

  refer(how: "ref" | "unref"): void {
    this.#connection[how]?.();
  }

  async #sendAll(): Promise<void> {
    try {
      for (let bytes = this.#next(); bytes; bytes = this.#next()) await this.#connection.send(bytes);
    } catch (cause) {
      if (!this.#closed) this.#owner.broke(this, cause);
    }
  }

  #next(): Buffer | undefined {
    const { sent, received, owesAcknowledgement, maxSendBytes } = this.#owner;
    if (this.#closed) return undefined;
    if (this.#urgent) {
      const bytes = this.#urgent;
      this.#urgent = undefined;
      return bytes;
    }
    if (!this.#ready || !(sent.hasUnsent || owesAcknowledgement)) return undefined;
    this.#owner.told(received);
    if (sent.hasUnsent) return sent.take(maxSendBytes, received);
    const packet = Buffer.alloc(headerBytes);
    sealPacket(packet, packetKind.data, 0, received);
    return packet;
  }

  async #listen(rest: Uint8Array): Promise<void> {
    this.#listening = true;
    try {
      this.#take(rest);
      while (!this.#closed) {
        await this.#owner.room();
        this.#reading = true;
        const { done, value } = await this.#reader.read();
        this.#reading = false;
        this.#silentTicks = 0;
        if (done) throw new Error("the connection to its terminal ended");
        this.#take(value);
      }
    } catch (cause) {
      if (!this.#closed) this.#owner.broke(this, cause);
    }
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    for (const event of this.#packets.push(bytes)) {
      if (this.#closed) return;
      this.#owner.hear(event, this);
    }
  }
}
