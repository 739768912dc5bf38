const headBytes = 5;

/** One frame of the programs in `guest/`: a kind of one character, and a payload. */
export interface Frame {
  readonly kind: string;
  readonly payload: Buffer;
}

/** A frame as bytes. */
export function encodeFrame(kind: string, payload: Uint8Array | string = ""): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(headBytes);
  head.write(kind, 0, "latin1");
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Frames out of bytes that are cut anywhere. */
export async function* decodeFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let held: Buffer[] = [];
  let size = 0;
  let wanted = headBytes;
  for await (const chunk of chunks) {
    held.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    size += chunk.byteLength;
    if (size < wanted) continue;
    let bytes = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
    for (;;) {
      wanted = bytes.length < headBytes ? headBytes : headBytes + bytes.readUInt32BE(1);
      if (bytes.length < wanted) break;
      yield { kind: bytes.toString("latin1", 0, 1), payload: bytes.subarray(headBytes, wanted) };
      bytes = bytes.subarray(wanted);
    }
    held = [bytes];
    size = bytes.length;
  }
}
