/**
 * Tells the caller's process that files may no longer be as they were listed: once, until it lists any again. So it
 * need not ask after every cell what was written.
 */
export class FileNews {
  readonly #tell: () => void;
  #listed = false;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  listed(): void {
    this.#listed = true;
  }

  changed(): void {
    if (!this.#listed) return;
    this.#listed = false;
    this.#tell();
  }
}
