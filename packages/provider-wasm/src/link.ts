/**
 * The shared memory between the broker and one worker: a mailbox for one blocking call at a time, and a ring that
 * output flows through. The guest cannot reach it; the broker checks what it reads all the same.
 */

/** Indexes of the control words. */
const word = {
  /** Of the mailbox: see `phase`. */
  phase: 0,
  textLength: 1,
  dataLength: 2,
  /** 1 when `text` is only a part and more follows. */
  more: 3,
  /** Bytes ever put into the ring and taken from it, modulo 2^32. */
  written: 4,
  taken: 5,
  /** 1 while a message to the broker about the ring is under way. */
  announced: 6,
  /** Counts up when waiting for room in the ring is to be given up for a signal. */
  interrupts: 7,
} as const;

const phase = { idle: 0, request: 1, reply: 2 } as const;

const controlBytes = 64;
const textBytes = 64 * 1024;
const dataBytes = 256 * 1024;
const ringBytes = 128 * 1024;
const recordHeader = 5;
/** A cell's result with its figures. The driver keeps below it. */
const longestText = 64 * 1024 * 1024;

interface Areas {
  readonly control: Int32Array;
  readonly text: Uint8Array;
  readonly data: Uint8Array;
  readonly ring: Uint8Array;
}

/** Memory for one link. */
function createLinkMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(controlBytes + textBytes + dataBytes + ringBytes);
}

function areasOf(memory: SharedArrayBuffer): Areas {
  const textStart = controlBytes;
  const dataStart = textStart + textBytes;
  return {
    control: new Int32Array(memory, 0, controlBytes / 4),
    text: new Uint8Array(memory, textStart, textBytes),
    data: new Uint8Array(memory, dataStart, dataBytes),
    ring: new Uint8Array(memory, dataStart + dataBytes, ringBytes),
  };
}

/** What a worker announces by message: a call waits, or the ring has bytes. */
export type Announcement = "call" | "output";

/** The worker's end. All its members block. */
export class WorkerEnd {
  readonly #areas: Areas;
  readonly #announce: (what: Announcement) => void;

  constructor(memory: SharedArrayBuffer, announce: (what: Announcement) => void) {
    this.#areas = areasOf(memory);
    this.#announce = announce;
  }

  /** Sends an operation with JSON arguments (and bytes), and waits for the JSON of the reply (and bytes). */
  call(operation: string, args: string, data: Uint8Array | null, send: boolean): string {
    const { control, data: area } = this.#areas;
    if (data && send) area.set(data.subarray(0, dataBytes));
    Atomics.store(control, word.dataLength, data && send ? Math.min(data.length, dataBytes) : 0);
    for (const part of parts(Buffer.from(`${operation} ${args}`))) this.#exchange(part.bytes, part.more);
    const reply = [this.#replyPart()];
    while (Atomics.load(control, word.more) === 1) {
      this.#exchange(new Uint8Array(), false);
      reply.push(this.#replyPart());
    }
    if (data && !send) data.set(area.subarray(0, Math.min(Atomics.load(control, word.dataLength), data.length)));
    return Buffer.concat(reply).toString();
  }

  #exchange(text: Uint8Array, more: boolean): void {
    const { control, text: area } = this.#areas;
    area.set(text);
    Atomics.store(control, word.textLength, text.length);
    Atomics.store(control, word.more, more ? 1 : 0);
    Atomics.store(control, word.phase, phase.request);
    this.#announce("call");
    // The notice of an earlier reply may come late and wake this wait: only the word itself tells.
    while (Atomics.load(control, word.phase) === phase.request) Atomics.wait(control, word.phase, phase.request);
  }

  #replyPart(): Buffer {
    const { control, text } = this.#areas;
    return Buffer.from(text.slice(0, Atomics.load(control, word.textLength)));
  }

  /** Puts output into the ring, waiting for room. False, with nothing written, when a signal ended the wait. */
  write(stream: number, bytes: Uint8Array): boolean {
    const longest = ringBytes / 2 - recordHeader;
    for (let start = 0; start < bytes.length; start += longest) {
      const piece = bytes.subarray(start, start + longest);
      // After the first piece a signal can wait: stopping half way would repeat output that is written.
      if (!this.#waitForRoom(piece.length + recordHeader, start === 0)) return false;
      this.#append(stream, piece);
    }
    return true;
  }

  #waitForRoom(length: number, interruptible: boolean): boolean {
    const { control } = this.#areas;
    const interrupts = Atomics.load(control, word.interrupts);
    for (;;) {
      const taken = Atomics.load(control, word.taken);
      if (ringBytes - ((Atomics.load(control, word.written) - taken) | 0) >= length) return true;
      if (interruptible && Atomics.load(control, word.interrupts) !== interrupts) return false;
      this.#announceOutput();
      Atomics.wait(control, word.taken, taken, 50);
    }
  }

  #append(stream: number, piece: Uint8Array): void {
    const { control, ring } = this.#areas;
    const start = Atomics.load(control, word.written);
    const header = Buffer.alloc(recordHeader);
    header.writeUInt8(stream, 0);
    header.writeUInt32LE(piece.length, 1);
    copyIn(ring, start, header);
    copyIn(ring, start + recordHeader, piece);
    Atomics.store(control, word.written, (start + recordHeader + piece.length) | 0);
    this.#announceOutput();
  }

  #announceOutput(): void {
    if (Atomics.exchange(this.#areas.control, word.announced, 1) === 0) this.#announce("output");
  }
}

/** One call as the broker sees it. */
export interface LinkRequest {
  readonly operation: string;
  /** JSON text, of whatever the guest likes. */
  readonly args: string;
  /** Bytes that came along; a copy. */
  readonly data: Uint8Array;
}

/** The broker's end. None of its members blocks. */
export class BrokerEnd {
  readonly memory = createLinkMemory();
  readonly #areas = areasOf(this.memory);
  #incoming: Buffer[] = [];
  #outgoing: { bytes: Buffer; more: boolean }[] = [];

  /** Takes the call that was announced; undefined while parts of it, or of our reply, are still being exchanged. */
  receive(): LinkRequest | undefined {
    const { control, text, data } = this.#areas;
    if (Atomics.load(control, word.phase) !== phase.request) return undefined;
    if (this.#outgoing.length > 0) {
      this.#sendPart();
      return undefined;
    }
    this.#incoming.push(Buffer.from(text.slice(0, bounded(Atomics.load(control, word.textLength), textBytes))));
    if (Atomics.load(control, word.more) === 1) {
      if (this.#incoming.length * textBytes > longestText) throw new Error("the call is too long");
      this.#finish(phase.reply);
      return undefined;
    }
    const whole = Buffer.concat(this.#incoming).toString();
    this.#incoming = [];
    const space = whole.indexOf(" ");
    return {
      operation: whole.slice(0, space),
      args: whole.slice(space + 1),
      data: data.slice(0, bounded(Atomics.load(control, word.dataLength), dataBytes)),
    };
  }

  /** The area that takes the bytes of a reply, for filling in place. */
  get replyArea(): Uint8Array {
    return this.#areas.data;
  }

  /** Answers the call. `dataLength` bytes were put into `replyArea`. */
  reply(value: unknown, dataLength = 0): void {
    Atomics.store(this.#areas.control, word.dataLength, dataLength);
    this.#outgoing = parts(Buffer.from(JSON.stringify(value) ?? "null"));
    this.#sendPart();
  }

  #sendPart(): void {
    const part = this.#outgoing.shift();
    if (!part) return;
    this.#areas.text.set(part.bytes);
    Atomics.store(this.#areas.control, word.textLength, part.bytes.length);
    Atomics.store(this.#areas.control, word.more, part.more ? 1 : 0);
    this.#finish(phase.reply);
  }

  #finish(next: number): void {
    Atomics.store(this.#areas.control, word.phase, next);
    Atomics.notify(this.#areas.control, word.phase);
  }

  /** To be called before the ring is drained, so that later output announces itself again. */
  listen(): void {
    Atomics.store(this.#areas.control, word.announced, 0);
  }

  /** The next record of output, left in the ring when `accept` refuses its stream. */
  takeOutput(accept: (stream: number) => boolean): { stream: number; bytes: Uint8Array } | undefined {
    const { control, ring } = this.#areas;
    const start = Atomics.load(control, word.taken);
    const filled = (Atomics.load(control, word.written) - start) | 0;
    if (filled === 0) return undefined;
    if (filled < recordHeader || filled > ringBytes) throw new Error("the output ring is damaged");
    const header = copyOut(ring, start, recordHeader);
    const [stream, length] = [header.readUInt8(0), header.readUInt32LE(1)];
    if (length + recordHeader > filled) throw new Error("the output ring is damaged");
    if (!accept(stream)) return undefined;
    const bytes = copyOut(ring, start + recordHeader, length);
    Atomics.store(control, word.taken, (start + recordHeader + length) | 0);
    Atomics.notify(control, word.taken);
    return { stream, bytes };
  }

  /** Ends a wait for room in the ring. */
  interrupt(): void {
    Atomics.add(this.#areas.control, word.interrupts, 1);
    Atomics.notify(this.#areas.control, word.taken);
  }
}

function bounded(value: number, limit: number): number {
  if (value < 0 || value > limit) throw new Error("the mailbox is damaged");
  return value;
}

function parts(bytes: Buffer): { bytes: Buffer; more: boolean }[] {
  const list = [];
  for (let start = 0; start === 0 || start < bytes.length; start += textBytes) {
    list.push({ bytes: bytes.subarray(start, start + textBytes), more: start + textBytes < bytes.length });
  }
  return list;
}

function copyIn(ring: Uint8Array, position: number, bytes: Uint8Array): void {
  const start = (position >>> 0) % ringBytes;
  const first = bytes.subarray(0, ringBytes - start);
  ring.set(first, start);
  ring.set(bytes.subarray(first.length), 0);
}

function copyOut(ring: Uint8Array, position: number, length: number): Buffer {
  const start = (position >>> 0) % ringBytes;
  const bytes = Buffer.alloc(length);
  const first = ring.subarray(start, Math.min(ringBytes, start + length));
  bytes.set(first);
  bytes.set(ring.subarray(0, length - first.length), first.length);
  return bytes;
}
