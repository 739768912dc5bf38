import { SandboxError } from "../errors.js";
import type { FileInfo, ListFilesOptions, ProviderFiles, ReadOptions, WriteOptions } from "../provider.js";
import { answerOf, ask, refusal } from "./ask.js";
import type { AgentConnection, AgentStream } from "./connection.js";
import type { ErrnoContext } from "./errno.js";
import { checked, parseMessage } from "./messages.js";
import { type AgentFileInfo, type AgentRequest, lane } from "./protocol.js";
import { watchFiles } from "./watch-files.js";

/** What a listing may weigh, in characters: the agent is not believed without bound. */
const maxListing = 512 * 1024 * 1024;
/** Longer than any one record: its path and its target are no longer than a path can be. */
const maxRecord = 1024 * 1024;

/** The files of a box, through its agent. */
export function agentFiles(
  connection: AgentConnection,
  provider: string,
): ProviderFiles & Required<Pick<ProviderFiles, "watch">> {
  const about = (op: AgentRequest["op"], path: string) => ({
    operation: `files.${op}`,
    subject: JSON.stringify(path),
    provider,
  });

  const simple = (request: AgentRequest, path: string) => ask(connection, request, about(request.op, path));

  /** What a request sends on lane `out`, once the agent has agreed. */
  const receive = async (request: AgentRequest & { readonly path: string }, signal?: AbortSignal) => {
    const stream = connection.open(request, { incoming: [lane.out] });
    try {
      answerOf(await stream.reply, about(request.op, request.path));
    } catch (error) {
      connection.over(stream);
      throw error;
    }
    return finishing(connection, stream, about(request.op, request.path), signal);
  };

  const read = async (path: string, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> => {
    const { offset = 0, length = null, signal } = options;
    signal?.throwIfAborted();
    return receive({ op: "read", path, offset, length }, signal);
  };

  const write = async (path: string, data: ReadableStream<Uint8Array>, options: WriteOptions): Promise<void> => {
    const { mode, permissions = null, ifModifiedAt, signal } = options;
    const request = { op: "write", path, mode, permissions, ifModifiedAt: ifModifiedAt?.getTime() ?? null } as const;
    let stream: AgentStream | undefined;
    try {
      signal?.throwIfAborted();
      stream = connection.open(request, { outgoing: [lane.in] });
      await pour(data, stream, signal);
      answerOf(await stream.reply, about(request.op, path));
    } catch (error) {
      if (!data.locked) await data.cancel(error).catch(() => undefined);
      throw error;
    } finally {
      if (stream) connection.over(stream);
    }
  };

  const list = async (path: string, options: ListFilesOptions = {}): Promise<FileInfo[]> => {
    const { recursive = false, maxDepth = null, limit = null } = options;
    const listing = await receive({ op: "list", path, recursive, maxDepth, limit });
    const records: FileInfo[] = [];
    for await (const line of linesOf(listing, provider)) {
      const record = parseMessage("listed", line);
      if ("error" in record) throw refusal(record.error, about("list", path));
      records.push(toFileInfo(record));
    }
    return records;
  };

  return {
    read,
    write,
    list,
    stat: async (path, { followSymlinks }) =>
      toFileInfo(checked("fileInfo", await simple({ op: "stat", path, followSymlinks }, path))),
    mkdir: async (path) => {
      await simple({ op: "mkdir", path }, path);
    },
    move: async (from, to) => {
      await simple({ op: "move", from, to }, from);
    },
    remove: async (path, { recursive }) =>
      checked("removed", await simple({ op: "remove", path, recursive }, path)).removed,
    symlink: async (target, path) => {
      await simple({ op: "symlink", target, path }, path);
    },
    watch: (path, { recursive = false, signal }) =>
      watchFiles(() => receive({ op: "watch", path, recursive }), about("watch", path), signal),
  };
}

/** Lane `out` of a stream, which is over when that has ended. */
function finishing(
  connection: AgentConnection,
  stream: AgentStream,
  about: ErrnoContext,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const incoming = stream.incoming.get(lane.out);
  if (!incoming) throw new Error("a stream without an output");
  const reader = incoming.stream.getReader();
  incoming.done.then(() => connection.over(stream));
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (signal?.aborted) {
          await reader.cancel(signal.reason);
          throw signal.reason;
        }
        const { done, value } = await reader.read().catch((error) => {
          throw connection.failure ?? cutOff(about, error);
        });
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function cutOff({ operation, subject, provider }: ErrnoContext, cause: unknown): SandboxError {
  const message = `${operation} ${subject}: it was cut off in the middle: try again`;
  return new SandboxError("TRANSPORT", message, { provider, operation, cause });
}

/** Sends all of `data`. Ends early, without an error, when the agent has answered already: the answer says why. */
async function pour(
  data: ReadableStream<Uint8Array>,
  stream: AgentStream,
  signal: AbortSignal | undefined,
): Promise<void> {
  const outgoing = stream.outgoing.get(lane.in);
  const reader = data.getReader();
  let answered = false;
  // Cancelled, a read that waits resolves with the end; what the source makes of it changes nothing here.
  const stop = (reason?: unknown) => reader.cancel(reason).catch(() => undefined);
  const onAnswer = () => {
    answered = true;
    outgoing?.stop();
    stop();
  };
  const onAbort = () => {
    outgoing?.abandon();
    stop(signal?.reason);
  };
  stream.reply.then(onAnswer, onAnswer);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) await outgoing?.write(next.value);
    signal?.throwIfAborted();
    if (!answered) await outgoing?.end();
  } catch (error) {
    outgoing?.abandon();
    // The old file stays: that is certain once the agent has answered.
    await stream.reply.catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    reader.releaseLock();
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>, provider: string): AsyncGenerator<string> {
  let rest = "";
  let size = 0;
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    size += text.length;
    if (size > maxListing) {
      const message = `a listing of more than ${maxListing} characters: list a smaller part, or give "limit"`;
      throw new SandboxError("TOO_LARGE", message, { provider, operation: "files.list" });
    }
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxRecord) {
      const message = `a listing with a record of more than ${maxRecord} characters, which is none`;
      throw new SandboxError("TRANSPORT", message, { provider, operation: "files.list", retryable: false });
    }
    yield* lines;
  }
}

function toFileInfo({ modifiedAt, ...info }: AgentFileInfo): FileInfo {
  return { ...info, modifiedAt: new Date(modifiedAt) };
}
