/**
 * What the host and the guest agent say to each other. This page is the specification for both ends: the agents in
 * `guest/python` and `guest/node` follow it, and every number here is theirs too.
 *
 * **Start.** Either end writes its preamble at once and skips what it reads until it has seen the other's: a channel
 * may deliver junk first (an echo of a terminal, the body of an HTTP request), and is given up after a MiB of it. The
 * host's preamble says which framing both use from then on. An agent whose stdin is a terminal puts that into raw mode
 * first.
 *
 * **Framing.** `binary`: `u32 length | u8 type | u8 lane | u32 stream | payload`, big endian; `length` counts all that
 * follows it. `text`: the same bytes (with their length) as one line `:BASE64\n`; lines that do not begin with `:` are
 * skipped. Limits: {@link maxRequestBytes} for a request to the agent, {@link maxPayloadBytes} for every other payload.
 * A frame that breaks a rule of this page ends the connection; an agent says farewell (`protocol`) before.
 *
 * **Streams.** The host opens one by a request with a number above all that it has used (1, 2, …; 0 belongs to the
 * connection).
 * Each request gets exactly one response. A `spawn`, `read`, `write`, `stage`, `list` or `watch` goes on after its response (a
 * `write` before it) with data on lanes, and is over when every lane of it has ended and, for a spawn, `gone` has been
 * told.
 * A number whose stream is over is never used again; frames for it may still arrive and are dropped.
 *
 * **Connections.** A client that says `network` in its hello serves the box's network: from then on the agent listens
 * on 127.0.0.1 inside, at the port that was said, and opens a stream for each connection that a program makes there, by
 * a frame `open` with a number above all that it has used from {@link firstAgentStream} on. Lane `out` of it carries
 * what the program sends, lane `in` what it is answered, each to an end of its own. A connection that breaks ends lane
 * `out` with a total that is not what was sent, and cancels lane `in`. The host says `close` once both lanes have ended
 * for it, and nobody reads what came; until then, or while the program has not read the rest, the connection counts.
 * More than {@link maxConnections} at one time break the rules: programs that make more wait for their turn. Of several
 * clients that have offered, the one that has done so for the longest time serves; when it leaves, its connections
 * break, and the next one serves those to come. While there is none, each gets an answer of HTTP, 503, that says so.
 * A stream of `connect` is such a connection the other way round: to a server in the box, opened by the host.
 *
 * **Refusals.** A request that makes no sense is refused by its response, and the connection goes on: `ENOSYS` for an
 * `op` that is not known; `EINVAL` for a member that is missing, of another type or out of its range, and for text with
 * a NUL; `EILSEQ` for half of a surrogate pair; `EAGAIN` for one stream above {@link maxStreams}. Members that are not
 * known are ignored. What a refused request would have opened is over with its response.
 * It does end the connection: a payload that is no object of JSON with an `op` of text, or nested deeper than any
 * reader can take; a number that is not above the last; any request before a `hello` was answered with `ok`, and a
 * second `hello` after it. One that was refused may be said again.
 *
 * **Credit.** A lane may carry {@link windowBytes} before its receiver has granted more; a grant is the number of
 * bytes that the receiver has handed on. So nothing is buffered without bound at either end, and a lane that nobody
 * reads holds up its program alone.
 */

/** What the host writes first. The last letter is the framing. */
export const hostPreamble = { binary: "\nSANDKIT-HOST/1 b\n", text: "\nSANDKIT-HOST/1 t\n" } as const;

/** What the agent writes first, in either framing. */
export const agentPreamble = "\nSANDKIT-AGENT/1\n";

export type Framing = keyof typeof hostPreamble;

/** Types of frames. All but `ping` and `pong` are about one stream. */
export const frameType = {
  /** To the agent: JSON, a {@link AgentRequest}. */
  request: 1,
  /** To the host: JSON, `{ "ok": … }` or `{ "error": AgentError }`. */
  response: 2,
  /** Either way: bytes of a lane. Never empty. */
  data: 3,
  /** Either way: the lane has ended; payload u64, the total of bytes that it carried or, cancelled, would have. */
  end: 4,
  /** Either way: u32, how many more bytes the lane may carry. */
  credit: 5,
  /**
   * Either way: the receiver of the lane wants no more of it. The sender ends the lane; an output of a program is
   * still read and counted, so that the program goes on. A lane to the agent that it has cancelled has ended for it:
   * the host may send an end, or nothing more.
   * To the agent on lane `in` of a `write` or `stage`, whose sender the host is: the write is given up, and the old file
   * stays; the response, or the record of a `stage`, is then error `ECANCELED`. On lane `in` of a connection: it is broken off, as by a reset. On another
   * lane to the agent it breaks the rules.
   */
  cancel: 6,
  /** To the host: JSON, a {@link ProcessEvent}. */
  event: 7,
  /** To the agent, every few seconds: one byte, 1 while the host waits for work of a kernel (which counts as use). */
  ping: 8,
  /** To the host: the answer to a ping, empty. */
  pong: 9,
  /** To the host, before the agent ends by itself: JSON, {@link AgentFarewell}. Stream 0. */
  farewell: 10,
  /** To the host: a program of the box has made a connection; empty. */
  open: 11,
  /** To the agent: the host is done with a stream that the agent has opened; empty. */
  close: 12,
} as const;

/** Lanes of a stream: one direction of bytes each. */
export const lane = {
  /** To the agent: stdin of a program, content of a file that is written. */
  in: 0,
  /** To the host: stdout or the terminal of a program, content of a file, records of a list. */
  out: 1,
  /** To the host: stderr. */
  err: 2,
  /** To the agent: descriptor 3 of a program that was spawned with `control`. */
  controlIn: 3,
  /** To the host: what such a program writes on descriptor 4; it never overtakes what it wrote on 1 and 2 before. */
  controlOut: 4,
} as const;

export const windowBytes = 256 * 1024;
export const maxPayloadBytes = 256 * 1024;
export const maxRequestBytes = 4 * 1024 * 1024;
/** Streams at one time in one connection; a request above is refused with `EAGAIN`. */
export const maxStreams = 1024;
/** Streams from here on are those that the agent opens. */
export const firstAgentStream = 0x8000_0000;
/** Of those at one time. */
export const maxConnections = 128;

/**
 * What the agent can be asked. Paths are absolute and normalised, numbers are whole and within what a double holds
 * exactly, times may have a fraction. Text is UTF-8; names from the box that are none come with U+FFFD in place of what
 * is none.
 */
export type AgentRequest =
  | HelloRequest
  | SpawnRequest
  /**
   * Sends a signal by its name. `tree`: to every process that grew from the spawn; SIGKILL is repeated until none is
   * left. `group`: to the process group of the leader, as a terminal does for Ctrl-C. Answers once delivered; content
   * when all are gone, and the stream over. `process` is the number of the stream of the spawn: `EINVAL` for one that
   * was never used, or is open and no spawn; `EINVAL` for a signal that is not known, too.
   */
  | { readonly op: "kill"; readonly process: number; readonly signal: string; readonly scope: "tree" | "group" }
  /** Size of the terminal of a spawn, each from 1 to 65,535; `process` as with `kill`. `EINVAL` without a terminal. */
  | { readonly op: "resize"; readonly process: number; readonly columns: number; readonly rows: number }
  /**
   * A range of a file on lane `out`, then its end. Follows links. Regular files only: `EISDIR`, or `EINVAL` for a pipe
   * or device, which must not block. Response `{}`. A failure in mid read ends the lane with a total that is not what
   * was sent.
   */
  | { readonly op: "read"; readonly path: string; readonly offset: number; readonly length: number | null }
  /**
   * Takes lane `in` to its end and answers then: `{ "bytes": n }`. Written beside the file and renamed over it
   * (`truncate`, `exclusive`), so that nobody sees half of it; `append` writes in place. Parents are made. Follows
   * links, but not with `exclusive`. A file that exists keeps its mode unless `permissions`, up to 0o7777, is given (a
   * new one has 0o644). `EEXIST`; `ESTALE` when `ifModifiedAt` (milliseconds) is not the file's time, now and at the rename.
   * An error that is known early is answered early, together with a cancel of lane `in`.
   */
  | {
      readonly op: "write";
      readonly path: string;
      readonly mode: "truncate" | "append" | "exclusive";
      readonly permissions: number | null;
      readonly ifModifiedAt: number | null;
    }
  /**
   * A `write` whose bytes come by another way. Response `{ "path": … }`: the file beside its place that is to be filled.
   * Lane `in` takes eight bytes, how long that must be, and its end; lane `out` then tells, in one record of JSON, how
   * long it is, as `{ "bytes": n }`, or an {@link AgentListFailure}. One of another length is not put in its place. It
   * goes with the client, as half of a write does. `EILSEQ` where a link leads to a name that is no text. Of the agent
   * in Python alone.
   */
  | {
      readonly op: "stage";
      readonly path: string;
      readonly mode: "truncate" | "exclusive";
      readonly permissions: number | null;
      readonly ifModifiedAt: number | null;
    }
  /**
   * Records of a directory, one JSON {@link AgentFileInfo} a line on lane `out`, in the order of the paths' UTF-16 code
   * units (a directory's content where `name/` sorts). Links to directories are not entered; `maxDepth`, from 1, counts
   * only with `recursive`. Response `{}` with the first records, so that an early failure may be the response; a later
   * one is the last record, as an {@link AgentListFailure}.
   */
  | {
      readonly op: "list";
      readonly path: string;
      readonly recursive: boolean;
      readonly maxDepth: number | null;
      readonly limit: number | null;
    }
  /** Answers with an {@link AgentFileInfo}. */
  | { readonly op: "stat"; readonly path: string; readonly followSymlinks: boolean }
  /** With parents; content with a directory that is there, `EEXIST` when a file has the name. */
  | { readonly op: "mkdir"; readonly path: string }
  /** rename(2); parents of `to` are made once `from` is known to exist. The error says which in `path`. */
  | { readonly op: "move"; readonly from: string; readonly to: string }
  /** Answers `{ "removed": boolean }`; `EISDIR` for a directory without `recursive`. Never follows a link. */
  | { readonly op: "remove"; readonly path: string; readonly recursive: boolean }
  | { readonly op: "symlink"; readonly target: string; readonly path: string }
  /**
   * Connects to a server in the box, at this port of 127.0.0.1 or else of ::1. Answers `{}` once connected; from then on
   * the stream has lanes `in` and `out`. `ECONNREFUSED` when nothing listens there.
   */
  | { readonly op: "connect"; readonly port: number }
  /**
   * Changes in a directory, one JSON {@link AgentFileChange} a line on lane `out`, until the host cancels that. Response
   * `{}` once it is watched; symbolic links in it are not entered. The lane ends after the directory itself was told as
   * removed. What ends it otherwise is its last record, as an {@link AgentListFailure}: `EOVERFLOW` when more happened
   * than was taken. Of an agent that says so in its {@link AgentReady}.
   */
  | { readonly op: "watch"; readonly path: string; readonly recursive: boolean }
  /** Answers with an {@link AgentInfo}, looked at now. */
  | { readonly op: "info" }
  /**
   * Answers with an {@link AgentCode}; `EPERM` once a program has been spawned, and of an agent that came compiled
   * itself. Of the agent in Python alone, `ENOSYS` of the other.
   */
  | { readonly op: "code" }
  /** The end of life is `ttlMs` from now. */
  | { readonly op: "extend"; readonly ttlMs: number }
  /** What the box is set up with is there: from now on its other clients are told so. Of the agent in Python alone. */
  | { readonly op: "ready" }
  /** The agent answers, says farewell, kills everything and ends. */
  | { readonly op: "shutdown" };

/**
 * Stream 0, the first frame of every client. All but `op`, `version` and `network` count for the first client only.
 * Errors: `EPROTONOSUPPORT` for another version, why a directory cannot be made, with its `path`, or why the agent cannot
 * listen (`EADDRINUSE`).
 */
export interface HelloRequest {
  readonly op: "hello";
  readonly version: 1;
  /** Made when it is missing. Where programs start by default. */
  readonly workdir: string;
  /** Over the environment that the agent was started with; programs get the sum. */
  readonly env: Readonly<Record<string, string>>;
  /** Directories that are made when missing, such as a home. */
  readonly directories: readonly string[];
  /** The agent ends at this time from now, in milliseconds. */
  readonly ttlMs: number | null;
  /**
   * The agent ends after this time without a request (`info` aside), bytes of a connection, a running program (kernels
   * aside) or a busy ping.
   */
  readonly idleMs: number | null;
  /** Detached agents only: they end this long after their last client has left. */
  readonly leaseMs: number | null;
  /**
   * Detached agents only: this client still sets the box up, until it says `ready`. Others are told so meanwhile; if it
   * leaves before, the agent ends, and what was half made with it.
   */
  readonly settingUp?: boolean;
  /** Detached agents only: this client decides nothing, and is no first one. Until there was one, the box is being set up. */
  readonly joins?: boolean;
  /** This client serves the network of the box, for programs that connect to this port of 127.0.0.1. Absent: not it. */
  readonly network?: { readonly port: number };
}

/** Answer to `hello`. */
export interface AgentReady {
  readonly version: 1;
  /** What runs the agent: `python 3.11.2`, `node 20.20.2`. */
  readonly runtime: string;
  /** Whether every descendant is sure to be found (a subreaper for each spawn), or looked for by its traces. */
  readonly killTree: "native" | "emulated";
  readonly pty: boolean;
  /** Whether it knows `watch`. */
  readonly watch?: boolean | undefined;
  /** Whether it can start programs as another user. */
  readonly user?: boolean | undefined;
  readonly workdir: string;
  /** In milliseconds since the epoch. */
  readonly startedAt: number;
  /** Another client is still setting the box up. */
  readonly settingUp?: boolean | undefined;
}

export interface AgentCode {
  /** The agent as its interpreter has compiled it, deflated, in base64: for `attachedAgent` of a box with the same one. */
  readonly code: string;
}

export interface AgentInfo {
  /** Found in the PATH of programs now: of `sh bash`, of `python3 node`. */
  readonly shells: readonly string[];
  readonly interpreters: readonly string[];
  /** Likewise, of what features need: of `git`. */
  readonly programs: readonly string[];
  /** Milliseconds since the epoch; null without `ttlMs` and `idleMs`. */
  readonly expiresAt: number | null;
}

/**
 * Starts a program under a supervisor of its own. Answers `{ "pid": n }` once it runs. A program that is missing (127)
 * or cannot be executed (126) answers so too: it writes `sandkit: NAME: command not found` or the reason on stderr and
 * ends with that code. Errors are those of `cwd` (`ENOENT`, `ENOTDIR`, `EACCES`), and that the box has no room for
 * another program (`EAGAIN`, `ENOMEM`, `EMFILE`).
 *
 * It leads a session and process group of its own. Both outputs end soon after the leader has ended and what it wrote
 * until then has been sent; what its children write later is read and dropped.
 */
export interface SpawnRequest {
  readonly op: "spawn";
  readonly command: readonly string[];
  /** Null: the workdir. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** False: the program reads end of file at once, and there is no lane `in`. */
  readonly stdin: boolean;
  readonly mergeStderr: boolean;
  /**
   * Absent: the user of the agent. Else a name of the box's `/etc/passwd`, or `uid:gid`: `EINVAL` for a name that it does
   * not have, `ENOTSUP` where the agent may not become another.
   */
  readonly user?: string | undefined;
  /** A terminal for all three; lane `in` is its input, lane `out` its output. `ENOTSUP` where there is none. */
  readonly pty: { readonly columns: number; readonly rows: number } | null;
  /**
   * After so long the agent ends the tree by SIGKILL, should the program still run: its client may have gone. Of the
   * agent in Python alone: the other ends with its client.
   */
  readonly deadlineMs?: number | undefined;
  /** Descriptors 3 and 4 lead to the lanes `controlIn` and `controlOut`. For kernels, which do not count as use. */
  readonly control: boolean;
}

/** Told on the stream of a spawn. `exited` comes once, before `gone`; `lost` instead of what cannot be known. */
export type ProcessEvent =
  | {
      readonly event: "exited";
      readonly code: number | null;
      /** Its name, when the leader was ended by one. */
      readonly signal: string | null;
      /** The leader died of SIGKILL, not sent by the agent, while the box counted a kill for memory. */
      readonly oom: boolean;
      readonly cpuMs: number | null;
      readonly peakMemoryBytes: number | null;
    }
  | { readonly event: "gone" }
  | { readonly event: "lost"; readonly message: string };

/** Why an agent ends by itself. */
export interface AgentFarewell {
  readonly reason: "ttl" | "idle" | "lease" | "shutdown" | "protocol";
  readonly message: string;
}

export interface AgentError {
  /** Name of an errno: `ENOENT`. */
  readonly errno: string;
  readonly message: string;
  /** Which path of the request it is about, where that is not the only one. */
  readonly path?: string | undefined;
}

/** What ends a listing that cannot go on, or a file that is not put in its place. */
export interface AgentListFailure {
  readonly error: AgentError;
}

export interface AgentFileChange {
  readonly type: "created" | "changed" | "removed";
  readonly path: string;
}

export interface AgentFileInfo {
  readonly path: string;
  readonly type: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  readonly mode: number;
  /** Milliseconds since the epoch, rounded down. */
  readonly modifiedAt: number;
  readonly symlinkTarget?: string | undefined;
}
