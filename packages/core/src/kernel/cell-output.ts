import type { Captured } from "../exec.js";
import type { OutputChunk, RunOptions } from "../options.js";
import { OutputCapture } from "../output.js";

const defaultMaxOutputBytes = 1024 * 1024;

/** The output of one cell: captured within bounds and shown to the caller as it comes. */
export class CellOutput {
  /** Called once when the caller's listener throws: the cell is to be stopped. */
  onFailure: (() => void) | undefined;
  readonly #captures: Readonly<Record<OutputChunk["stream"], OutputCapture>>;
  /** Made with the first output: most cells write to one stream or to none. */
  readonly #decoders = new Map<OutputChunk["stream"], InstanceType<typeof TextDecoder>>();
  readonly #listener: RunOptions["onOutput"];
  #failure: { readonly cause: unknown } | undefined;

  constructor(options: RunOptions) {
    const limit = options.maxOutputBytes ?? defaultMaxOutputBytes;
    this.#captures = { stdout: new OutputCapture(limit), stderr: new OutputCapture(limit) };
    this.#listener = options.onOutput;
  }

  /** What the caller's listener threw. */
  get failure(): { readonly cause: unknown } | undefined {
    return this.#failure;
  }

  async add(stream: OutputChunk["stream"], bytes: Uint8Array): Promise<void> {
    this.#captures[stream].add(bytes);
    const decoder = this.#decoders.get(stream) ?? new TextDecoder();
    this.#decoders.set(stream, decoder);
    await this.#tell({ stream, bytes, text: decoder.decode(bytes, { stream: true }) });
  }

  /** Tells the caller of characters that were never finished. */
  async end(): Promise<void> {
    for (const [stream, decoder] of this.#decoders) {
      const text = decoder.decode();
      if (text) await this.#tell({ stream, bytes: new Uint8Array(), text });
    }
  }

  captured(): { readonly stdout: Captured; readonly stderr: Captured } {
    return { stdout: this.#captures.stdout.snapshot(), stderr: this.#captures.stderr.snapshot() };
  }

  async #tell(chunk: OutputChunk): Promise<void> {
    if (this.#failure) return;
    try {
      await this.#listener?.(chunk);
    } catch (cause) {
      this.#failure = { cause };
      this.onFailure?.();
    }
  }
}
