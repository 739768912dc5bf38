import { readSync } from "node:fs";

/** Fills `target` from an open file. @throws Error when the file ends before */
export function readFully(file: number, target: Uint8Array, position: number): void {
  for (let read = 0; read < target.length; ) {
    const count = readSync(file, target, read, target.length - read, position + read);
    if (count === 0) throw new Error(`a file of the package ends at byte ${position + read}`);
    read += count;
  }
}
