/** Habits of the real service that its clients trip over. Each can be switched off. */
export interface DaytonaQuirks {
  /** How long the log stream of a command stays open after its last byte, in milliseconds; default 1,000. */
  readonly logCloseDelayMs: number;
  /** Largest frame of a log stream, in bytes: the log is cut there, wherever that is; default 1,024. */
  readonly logFrameBytes: number;
  /** A last line without a newline gets one in the log of a session's command; default true. */
  readonly addFinalNewline: boolean;
  /** NUL bytes vanish from the log of a session's command; default true. */
  readonly dropNul: boolean;
  /** How long a change of state takes beyond the work itself, in milliseconds; default 0. */
  readonly stateDelayMs: number;
  /** An open WebSocket keeps the sandbox from being stopped for idleness; default false. */
  readonly connectionsAreActivity: boolean;
  /** A client of a terminal that has not taken so many bytes is cut off; default: the terminal waits for it. */
  readonly ptyBacklogBytes: number;
}

/** The service as it is. */
export const faithfulQuirks: DaytonaQuirks = {
  logCloseDelayMs: 1_000,
  logFrameBytes: 1_024,
  addFinalNewline: true,
  dropNul: true,
  stateDelayMs: 0,
  connectionsAreActivity: false,
  ptyBacklogBytes: Number.POSITIVE_INFINITY,
};
