const memorySection = 5;

/**
 * Lowers the maximum of the memory that a WebAssembly module declares. The number is overwritten in place, in as many
 * bytes as it had, so that nothing else moves.
 * @returns the pages of 64 KiB that it starts with
 */
export function limitMemory(module: Uint8Array, maximumPages: number): number {
  const reader = { at: 8 };
  while (reader.at < module.length) {
    const section = module[reader.at++];
    const size = readNumber(module, reader);
    if (section !== memorySection) {
      reader.at += size;
      continue;
    }
    const [memories, flags] = [readNumber(module, reader), readNumber(module, reader)];
    if (memories !== 1 || flags !== 1) throw new Error("the module does not have one memory with a maximum");
    const initialPages = readNumber(module, reader);
    const start = reader.at;
    readNumber(module, reader);
    writeNumber(module.subarray(start, reader.at), maximumPages);
    return initialPages;
  }
  throw new Error("the module has no memory of its own");
}

/** An unsigned LEB128 number. */
function readNumber(bytes: Uint8Array, reader: { at: number }): number {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[reader.at++] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
}

/** Fills the bytes with a number, padded. */
function writeNumber(target: Uint8Array, value: number): void {
  let rest = value;
  for (let index = 0; index < target.length; index += 1) {
    target[index] = (rest & 0x7f) | (index < target.length - 1 ? 0x80 : 0);
    rest >>>= 7;
  }
  if (rest > 0) throw new Error(`${value} pages do not fit where the module's maximum stands`);
}
