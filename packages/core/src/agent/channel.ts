/** A byte stream to the guest agent of one box: all that a provider has to bring for `agentSession`. */
export interface Channel {
  /** What the agent says. Pulled: what is not read must hold the agent up after a bounded buffer. */
  readonly readable: ReadableStream<Uint8Array>;
  /** What the agent is told. */
  readonly writable: WritableStream<Uint8Array>;
  /** Gives the stream up; an attached agent then ends, and everything in its box with it. Idempotent. */
  close(): Promise<void>;
  /** True while the way to the agent is broken but may be found again: its silence says nothing then. */
  readonly stalled?: boolean;
  /** Told every few seconds while the agent says nothing, or the channel is stalled: why may be known by another way. */
  silent?(): void;
  /** Whether an idle channel keeps the program alive: called when something is waited for, and when nothing is. */
  ref?(): void;
  unref?(): void;
}
