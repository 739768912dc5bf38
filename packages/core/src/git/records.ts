import { SandboxError } from "../errors.js";

/** The fields of an answer that ends each with NUL. */
function splitFields(bytes: Uint8Array): string[] {
  return new TextDecoder().decode(bytes).split("\0").slice(0, -1);
}

/** Takes an answer of git apart, field by field. */
export class Fields {
  readonly #fields: readonly string[];
  readonly #operation: string;
  #at = 0;

  constructor(bytes: Uint8Array, operation: string) {
    this.#fields = splitFields(bytes);
    this.#operation = operation;
  }

  get done(): boolean {
    return this.#at >= this.#fields.length;
  }

  /** The next one, which stays. */
  get next(): string {
    return this.#fields[this.#at] ?? "";
  }

  /** The next one, which is over then. */
  take(): string {
    if (this.done) throw this.unreadable("it ends too early");
    return this.#fields[this.#at++] ?? "";
  }

  unreadable(why: string): SandboxError {
    const message = `${this.#operation}: the git of this sandbox gave an answer that cannot be read (${why}): use exec`;
    return new SandboxError("COMMAND_FAILED", message, { operation: this.#operation });
  }
}
