import { SandboxError } from "../errors.js";
import type { StagedFile, StageFile } from "../staged-file.js";
import { answerOf, refusal } from "./ask.js";
import type { AgentConnection, AgentStream } from "./connection.js";
import type { ErrnoContext } from "./errno.js";
import { ProtocolError } from "./frames.js";
import { checked, parseMessage } from "./messages.js";
import { lane } from "./protocol.js";

/** Of the size that the agent is told. */
const sizeBytes = 8;
/** Longer than any report, in characters. */
const maxReport = 64 * 1024;

/** Has the agent make a file beside its place, and put it there. */
export function agentStage(connection: AgentConnection, provider: string): StageFile {
  return async (path, { mode, permissions = null, ifModifiedAt, signal }) => {
    signal?.throwIfAborted();
    if (mode === "append") throw new Error("what is appended is written in place");
    const about = { operation: "files.write", subject: JSON.stringify(path), provider };
    const request = { op: "stage", path, mode, permissions, ifModifiedAt: ifModifiedAt?.getTime() ?? null } as const;
    const stream = connection.open(request, { incoming: [lane.out], outgoing: [lane.in] });
    try {
      const reply = await stream.reply;
      if ("error" in reply && reply.error.errno === "EILSEQ") {
        connection.over(stream);
        return undefined;
      }
      const { path: beside } = checked("staged", answerOf(reply, about));
      return new AgentStagedFile(connection, stream, beside, about);
    } catch (error) {
      connection.over(stream);
      throw error;
    }
  };
}

class AgentStagedFile implements StagedFile {
  readonly path: string;
  readonly #connection: AgentConnection;
  readonly #stream: AgentStream;
  readonly #about: ErrnoContext;
  #told = false;

  constructor(connection: AgentConnection, stream: AgentStream, path: string, about: ErrnoContext) {
    this.#connection = connection;
    this.#stream = stream;
    this.path = path;
    this.#about = about;
  }

  async commit(bytes: number): Promise<void> {
    this.#told = true;
    const size = Buffer.alloc(sizeBytes);
    size.writeBigUInt64BE(BigInt(bytes));
    const outgoing = this.#stream.outgoing.get(lane.in);
    await outgoing?.write(size);
    await outgoing?.end();
    const record = parseMessage("placed", await this.#report());
    if ("error" in record) throw refusal(record.error, this.#about);
    if (record.bytes === bytes) return;
    const { operation, subject, provider } = this.#about;
    const message = `${operation} ${subject}: it was cut off after ${record.bytes} of ${bytes} bytes: try again`;
    throw new SandboxError("TRANSPORT", message, { provider, operation });
  }

  async discard(): Promise<void> {
    // What was not put in its place is gone already.
    if (this.#told) return;
    this.#told = true;
    this.#stream.outgoing.get(lane.in)?.abandon();
    // It is gone once the agent has answered; what that says changes nothing.
    await this.#report();
  }

  async #report(): Promise<string> {
    const incoming = this.#stream.incoming.get(lane.out);
    let text = "";
    try {
      for await (const piece of incoming?.stream.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        if (text.length > maxReport) throw new ProtocolError("the agent said too much of a file");
      }
      return text;
    } catch (error) {
      throw this.#connection.failure ?? error;
    } finally {
      this.#connection.over(this.#stream);
    }
  }
}
