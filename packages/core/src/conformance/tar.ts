/** One entry of a hand-made archive: what an honest packer would refuse to write can be written too. */
export interface TarEntry {
  /** At most 100 bytes. */
  readonly name: string;
  readonly body?: string | undefined;
  /** Makes a symbolic link. */
  readonly linkTo?: string | undefined;
  /** Makes a hard link. */
  readonly hardLinkTo?: string | undefined;
}

const blockBytes = 512;

/** An archive of exactly these entries, in the ustar format. */
export function tarOf(...entries: readonly TarEntry[]): ReadableStream<Uint8Array> {
  const blocks = entries.flatMap((entry) => {
    const body = Buffer.from(entry.body ?? "");
    const padding = Buffer.alloc((blockBytes - (body.length % blockBytes)) % blockBytes);
    return [header(entry, body.length), body, padding];
  });
  return new Blob([...blocks, Buffer.alloc(2 * blockBytes)]).stream();
}

function header({ name, linkTo, hardLinkTo }: TarEntry, size: number): Buffer {
  const type = linkTo !== undefined ? "2" : hardLinkTo !== undefined ? "1" : name.endsWith("/") ? "5" : "0";
  const block = Buffer.alloc(blockBytes);
  const octalField = (value: number, offset: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
  block.write(name, 0, 100, "utf8");
  octalField(type === "5" ? 0o755 : 0o644, 100, 8);
  octalField(0, 108, 8);
  octalField(0, 116, 8);
  octalField(size, 124, 12);
  octalField(1_700_000_000, 136, 12);
  block.write(" ".repeat(8), 148, "latin1");
  block.write(type, 156, "latin1");
  block.write(linkTo ?? hardLinkTo ?? "", 157, 100, "utf8");
  block.write("ustar\u000000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}
