import { setTimeout } from "node:timers/promises";
import type { Command, SessionCommandLogsResponse } from "@daytona/toolbox-api-client";
import { deferred } from "@sandkit/core";
import type { BoxProcess } from "../../box-process.js";
import type { DaytonaQuirks } from "../quirks.js";
import { CommandLog } from "./command-log.js";
import { LineLabels, splitLog } from "./line-labels.js";

/** What was written before the end arrives within this time, in milliseconds. */
const leastSilenceMs = 100;

/** One command of a session: its streams, and what has been told of its end. */
export class SessionCommand {
  readonly id: string;
  readonly command: string;
  readonly log = new CommandLog();
  /** Settles when its exit code is known and its log is complete, or its session was deleted. */
  readonly finished: Promise<void>;
  readonly #quirks: DaytonaQuirks;
  readonly #carrier: BoxProcess;
  readonly #echo: LineLabels | undefined;
  readonly #finished = deferred<void>();
  readonly #carried: Promise<void>;
  #lastByteAt = Date.now();
  #exitCode: number | undefined;

  /** @param carrier Runs `session-command.sh`: its streams are the command's. */
  constructor(id: string, command: string, carrier: BoxProcess, quirks: DaytonaQuirks, echoInput: boolean) {
    this.id = id;
    this.command = command;
    this.#carrier = carrier;
    this.#quirks = quirks;
    this.#echo = echoInput ? new LineLabels("stdout", quirks) : undefined;
    this.finished = this.#finished.promise;
    this.#carried = this.#carry();
    // A carrier that is lost has no more to tell.
    this.#carried.catch(() => undefined);
  }

  /** What the service tells of it; without an exit code while it runs, and for ever when it has ended its shell. */
  get info(): Command {
    const { id, command } = this;
    return this.#exitCode === undefined ? { id, command } : { id, command, exitCode: this.#exitCode };
  }

  get logs(): SessionCommandLogsResponse {
    return splitLog(this.log.bytes);
  }

  /** A line for its stdin. */
  async type(data: string): Promise<void> {
    if (this.#echo) this.log.add(this.#echo.push(Buffer.from(`${data}\n`)));
    await this.#carrier.write(Buffer.from(`${data}\n`));
  }

  /** Its shell has told how it ended. */
  async exited(exitCode: number): Promise<void> {
    const carried = this.#carried.then(
      () => "carried",
      () => "lost",
    );
    // A background child may hold the streams for ever: then it is the silence that ends the log.
    const silenceMs = Math.max(this.#quirks.logCloseDelayMs, leastSilenceMs);
    for (let quietMs = 0; quietMs < silenceMs; quietMs = Date.now() - this.#lastByteAt) {
      if (await Promise.race([carried, setTimeout(silenceMs - quietMs)])) break;
    }
    this.#exitCode = exitCode;
    this.end();
  }

  /** Nothing more will be told of it. */
  end(): void {
    this.log.complete();
    this.#finished.resolve();
  }

  async #carry(): Promise<void> {
    const labels = { stdout: new LineLabels("stdout", this.#quirks), stderr: new LineLabels("stderr", this.#quirks) };
    for await (const { stream, bytes } of this.#carrier.output()) {
      this.#lastByteAt = Date.now();
      this.log.add(labels[stream].push(bytes));
    }
    this.log.add(labels.stdout.end());
    this.log.add(labels.stderr.end());
  }
}
