const newLine = [0x0d, 0x0a];
const tilde = 0x7e;
const dot = 0x2e;

/** Sees the keys that leave a shell which does not answer: Enter, `~`, `.`, as ssh has them. */
export class LeaveKeys {
  #seen = 1;

  /** Whether these complete the three; everything else is the shell's. */
  leaves(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (this.#seen === 2 && byte === dot) return true;
      if (newLine.includes(byte)) this.#seen = 1;
      else this.#seen = this.#seen === 1 && byte === tilde ? 2 : 0;
    }
    return false;
  }
}
