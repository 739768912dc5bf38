/** What of the real service is a matter of its build, and can be set otherwise to provoke a client. */
export interface E2BQuirks {
  /** Most bytes of one data event of a pipe; the real envd reads 32 KiB at a time. */
  readonly chunkBytes: number;
  /** Likewise of a terminal: 16 KiB. */
  readonly ptyChunkBytes: number;
  /** Between keepalive events of an idle stream, in milliseconds; absent: what the client asks for, else 90 s. */
  readonly keepaliveMs?: number | undefined;
  /** How long an ended process can still be connected to, to read its exit; 30 s. */
  readonly exitKeptMs: number;
  /** Events that may wait for a client that does not read before the program is held up; 64. */
  readonly bufferedEvents: number;
  /** Told to clients, which adapt to it. */
  readonly envdVersion: string;
}

/** The real service as it was in November 2026. */
export const faithful: E2BQuirks = {
  chunkBytes: 32 * 1024,
  ptyChunkBytes: 16 * 1024,
  exitKeptMs: 30_000,
  bufferedEvents: 64,
  envdVersion: "0.6.13",
};
