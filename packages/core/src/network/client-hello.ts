/** What the first bytes of a client are. */
export type ParsedClientHello =
  /** Not whole yet; so many bytes are needed to tell more. */
  | { readonly is: "incomplete"; readonly needed: number }
  | { readonly is: "client-hello"; readonly serverName: string | undefined }
  /** Begins as TLS does, and is none. */
  | { readonly is: "malformed"; readonly why: string }
  | { readonly is: "other" };

const [handshakeRecord, tlsMajor, clientHello] = [22, 3, 1];
const [recordHeader, handshakeHeader] = [5, 4];
/** Clients send one record of up to 2 KiB, or a few where they mean to be hard to read. */
const [mostRecords, longestRecord, longestHello] = [16, 16_384, 20_480];
const [serverNameExtension, hostNameType] = [0, 0];

/** Reads what a client says first, as far as it is there: of TLS, the name that it asks for in the open. */
export function parseClientHello(bytes: Buffer): ParsedClientHello {
  if (bytes.length === 0) return { is: "incomplete", needed: 1 };
  if (bytes[0] !== handshakeRecord || (bytes.length > 1 && bytes[1] !== tlsMajor)) return { is: "other" };
  try {
    return readHello(bytes);
  } catch (error) {
    if (error instanceof Malformed) return { is: "malformed", why: error.message };
    throw error;
  }
}

class Malformed extends Error {
  override readonly name = "Malformed";
}

/** Gathers the message from its records. */
function readHello(bytes: Buffer): ParsedClientHello {
  let message = Buffer.alloc(0);
  let start = 0;
  for (let records = 0; message.length < helloLength(message); records += 1) {
    if (records === mostRecords) throw new Malformed("its first message comes in too many records");
    const end = recordEnd(bytes, start);
    if (bytes.length < end) return { is: "incomplete", needed: end };
    message = Buffer.concat([message, bytes.subarray(start + recordHeader, end)]);
    start = end;
  }
  return { is: "client-hello", serverName: serverNameOf(message) };
}

function recordEnd(bytes: Buffer, start: number): number {
  if (bytes.length < start + recordHeader) return start + recordHeader;
  const size = bytes.readUInt16BE(start + 3);
  const isHandshake = bytes[start] === handshakeRecord && bytes[start + 1] === tlsMajor;
  if (!isHandshake || size === 0 || size > longestRecord) throw new Malformed("one of its records is none");
  return start + recordHeader + size;
}

/** How long the whole message is, or its header while that is not there. */
function helloLength(message: Buffer): number {
  if (message.length > 0 && message[0] !== clientHello) throw new Malformed("its first message is no ClientHello");
  if (message.length < handshakeHeader) return handshakeHeader;
  const length = handshakeHeader + message.readUIntBE(1, 3);
  if (length > longestHello) throw new Malformed("its first message is too long");
  return length;
}

function serverNameOf(message: Buffer): string | undefined {
  if (message.length !== helloLength(message)) throw new Malformed("its first message has more bytes than it says");
  const hello = new Fields(message.subarray(handshakeHeader));
  // Version and random bytes, then session, ciphers, compressions.
  hello.take(34);
  hello.list(1);
  hello.list(2);
  hello.list(1);
  if (hello.done) return undefined;
  const extensions = hello.list(2);
  if (!hello.done) throw new Malformed("something follows its extensions");
  let found: string | undefined;
  while (!extensions.done) {
    const type = extensions.number(2);
    const body = extensions.list(2);
    if (type !== serverNameExtension) continue;
    if (found !== undefined) throw new Malformed("it asks for a name twice");
    found = hostNameOf(body);
  }
  return found;
}

function hostNameOf(body: Fields): string {
  const names = body.list(2);
  if (names.number(1) !== hostNameType) throw new Malformed("it asks for a name that is no host's");
  const name = names.list(2).rest().toString("latin1");
  if (name === "" || !names.done || !body.done) throw new Malformed("it asks for several names, or for none");
  return name;
}

/** Fields one after another, none of them longer than what holds them. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): Buffer {
    if (count > this.#bytes.length - this.#at) throw new Malformed("a length in it is wrong");
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  number(bytes: 1 | 2): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** What is preceded by its length. */
  list(bytesOfLength: 1 | 2): Fields {
    return new Fields(this.take(this.number(bytesOfLength)));
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }
}
