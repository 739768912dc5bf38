import type { TarHeader } from "modern-tar";

/** Where entries of an archive go. */
export type AddEntry = (header: TarHeader) => WritableStream<Uint8Array>;

/** Puts a file of root's into an archive that is being made. */
export async function addTarFile(add: AddEntry, name: string, bytes: Uint8Array, mode: number): Promise<void> {
  const writer = add({ name, type: "file", size: bytes.length, mode, uid: 0, gid: 0 }).getWriter();
  await writer.write(bytes);
  await writer.close();
}
