/**
 * A terminal of a vendor's machine: all that a provider of remote machines has to bring for `remoteSession`. What runs
 * on it is a shell first, and soon our link to the guest agent, which puts it into raw mode.
 */
export interface Terminal {
  /**
   * Starts a shell on a new terminal.
   * @throws SandboxError as the vendor's refusal fits; or `signal.reason`
   */
  open(signal: AbortSignal): Promise<TerminalConnection>;
  /**
   * Connects to the opened terminal again, after a connection broke; null only when its program is confirmed gone. It
   * never wakes a box that is paused: it fails then.
   */
  reconnect(signal: AbortSignal): Promise<TerminalConnection | null>;
  /** Ends the program of the terminal. Idempotent. */
  end(): Promise<void>;
  /** Most bytes of one `send`. */
  readonly maxSendBytes: number;
}

/** One way to a terminal, which may break while its program lives. */
export interface TerminalConnection {
  /**
   * Hands bytes over; resolves once the vendor has taken them. Called again only after that. Of one call, all bytes
   * reach the program or none; after a failure nobody knows which.
   */
  send(bytes: Uint8Array): Promise<void>;
  /** What the program writes from now on, pulled; ends or fails when the connection is over. */
  readonly output: ReadableStream<Uint8Array>;
  /** Gives the connection up; the program goes on. Idempotent. */
  close(): Promise<void>;
  /** Whether an idle connection keeps this program alive. Absent where the vendor's gives no way to say so: it does. */
  ref?(): void;
  unref?(): void;
}
