/** One frame of the programs in `guest/`: a kind of one character, and a payload. */
export interface Frame {
  /** Of the helper that it is for or from; 0 where frames have no number. */
  readonly number: number;
  readonly kind: string;
  readonly payload: Buffer;
}

const numberBytes = 4;
const headBytes = 5;

/** A frame as bytes; with a number where frames have one. */
export function encodeFrame(kind: string, payload: Uint8Array | string = "", number?: number): Buffer {
  const body = Buffer.from(payload);
  const before = number === undefined ? 0 : numberBytes;
  const head = Buffer.alloc(before + headBytes);
  if (number !== undefined) head.writeUInt32BE(number, 0);
  head.write(kind, before, "latin1");
  head.writeUInt32BE(body.length, before + 1);
  return Buffer.concat([head, body]);
}

/** Frames out of bytes that are cut anywhere. */
export async function* decodeFrames(
  chunks: AsyncIterable<Uint8Array>,
  { numbered }: { readonly numbered: boolean },
): AsyncGenerator<Frame> {
  const before = numbered ? numberBytes : 0;
  const head = before + headBytes;
  let held: Buffer[] = [];
  let size = 0;
  let wanted = head;
  for await (const chunk of chunks) {
    held.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    size += chunk.byteLength;
    if (size < wanted) continue;
    let bytes = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
    for (;;) {
      wanted = bytes.length < head ? head : head + bytes.readUInt32BE(before + 1);
      if (bytes.length < wanted) break;
      const number = numbered ? bytes.readUInt32BE(0) : 0;
      yield { number, kind: bytes.toString("latin1", before, before + 1), payload: bytes.subarray(head, wanted) };
      bytes = bytes.subarray(wanted);
    }
    held = [bytes];
    size = bytes.length;
  }
}
