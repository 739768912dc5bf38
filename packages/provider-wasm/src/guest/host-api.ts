/**
 * What the worker gives the guest realm, and all that ever passes between the two: primitives, and typed arrays that
 * the guest itself allocated. No member may return or throw an object of the worker's realm.
 */
export interface HostApi {
  /** One blocking call to the broker; `data` carries bytes there (with `send`) or takes the bytes of the reply. */
  call(operation: string, args: string, data: Uint8Array | null, send: boolean): string;
  /** Gives output to the broker; blocks while its consumer is behind. False when a signal cut the wait short. */
  write(stream: number, bytes: Uint8Array): boolean;
  /** Blocks for so many milliseconds, or until a signal arrives. */
  sleep(ms: number): void;
  /** The buffer through which the broker signals this interpreter. Taken once. */
  signals(buffer: SharedArrayBuffer): void;
  /** Copies the pages of the snapshot into the fresh memory and gives its description as JSON. */
  restore(memory: Uint8Array): string;
  random(bytes: Uint8Array): void;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Null when the bytes are no valid text of that encoding, 0 when there is no such encoding. */
  decode(encoding: string, fatal: boolean, ignoreBom: boolean, bytes: Uint8Array): string | null | 0;
  encode(text: string, target: Uint8Array): number;
  timer(id: number, ms: number): void;
  log(text: string): void;
}

/** What the shell's realm has besides. */
export interface ShellHost extends HostApi {
  /** Works on a copy of the bytes; the length of the result, or -1 where there is none. */
  compress(kind: "gzip" | "gunzip", bytes: Uint8Array): number;
  /** Gives the result, into an area of exactly its length. Once. */
  takeCompressed(target: Uint8Array): void;
}
