import type { constants } from "node:os";
import type { BoxExit, BoxOutput, BoxProcess } from "../../box-process.js";
import type { E2BQuirks } from "../quirks.js";
import type { EndEvent, ProcessConfig, ProcessEvent } from "./process-messages.js";
import { Subscriber } from "./subscriber.js";

/** One process of a sandbox, with the clients that listen to it now. What nobody listens to is gone. */
export class RunningProcess {
  readonly config: ProcessConfig;
  readonly tag: string | undefined;
  /** Settles once the end has been handed to all who listen; never rejects. */
  readonly ended: Promise<void>;
  readonly box: BoxProcess;
  readonly #quirks: E2BQuirks;
  readonly #subscribers = new Set<Subscriber<ProcessEvent>>();
  #end: EndEvent | undefined;

  /** @param first The one who started it, who misses nothing. */
  constructor(
    box: BoxProcess,
    config: ProcessConfig,
    tag: string | undefined,
    quirks: E2BQuirks,
    first: Subscriber<ProcessEvent>,
  ) {
    this.box = box;
    this.config = config;
    this.tag = tag;
    this.#quirks = quirks;
    this.#subscribers.add(first);
    this.ended = this.#pump();
  }

  get pid(): number {
    return this.box.pid;
  }

  get running(): boolean {
    return this.#end === undefined;
  }

  /** Everything from now on; of an ended one, its end. */
  subscribe(): Subscriber<ProcessEvent> {
    const subscriber = new Subscriber<ProcessEvent>(this.#quirks.bufferedEvents);
    if (this.#end) {
      subscriber.add({ end: this.#end });
      subscriber.end();
    } else this.#subscribers.add(subscriber);
    return subscriber;
  }

  /** Stops listening. */
  unsubscribe(subscriber: Subscriber<ProcessEvent>): void {
    subscriber.end();
    this.#subscribers.delete(subscriber);
  }

  async #pump(): Promise<void> {
    try {
      for await (const output of this.box.output()) {
        for (const event of this.#events(output)) await this.#tell(event);
      }
      this.#end = endEvent(await this.box.exited);
      await this.#tell({ end: this.#end });
    } catch {
      // The machine has gone with it: its clients see their streams end without an end event, as they do at E2B.
      this.#end ??= { exitCode: -1, exited: false, status: "lost" };
    }
    for (const subscriber of this.#subscribers) subscriber.end();
    this.#subscribers.clear();
  }

  async #tell(event: ProcessEvent): Promise<void> {
    await Promise.all([...this.#subscribers].map((subscriber) => subscriber.add(event)));
  }

  *#events({ stream, bytes }: BoxOutput): Generator<ProcessEvent> {
    const onTerminal = this.box.program.pty !== undefined;
    const most = onTerminal ? this.#quirks.ptyChunkBytes : this.#quirks.chunkBytes;
    for (let offset = 0; offset < bytes.length; offset += most) {
      const piece = bytes.subarray(offset, offset + most).toString("base64");
      if (onTerminal) yield { data: { pty: piece } };
      else yield { data: stream === "stdout" ? { stdout: piece } : { stderr: piece } };
    }
  }
}

function endEvent({ code, signal }: BoxExit): EndEvent {
  if (code === 0) return { exitCode: 0, exited: true, status: "exit status 0" };
  if (code !== null) {
    return { exitCode: code, exited: true, status: `exit status ${code}`, error: `exit status ${code}` };
  }
  const status = `signal: ${signalWords[signal ?? ""] ?? signal}`;
  return { exitCode: -1, exited: false, status, error: status };
}

/** As Go names them; the others by their name. */
const signalWords: Readonly<Record<string, string>> = {
  SIGHUP: "hangup",
  SIGINT: "interrupt",
  SIGQUIT: "quit",
  SIGABRT: "aborted",
  SIGKILL: "killed",
  SIGSEGV: "segmentation fault",
  SIGPIPE: "broken pipe",
  SIGALRM: "alarm clock",
  SIGTERM: "terminated",
} satisfies Partial<Record<keyof typeof constants.signals, string>>;
