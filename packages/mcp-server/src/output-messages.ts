import { LOG_LEVEL_META_KEY, type LoggingLevel, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { report } from "./report.js";
import { terminalText } from "./result/terminal-text.js";
import { abridged } from "./result/text.js";
import type { LiveRun } from "./runs/live-run.js";

/** From the least important on. */
const levels: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];
const levelOf = { stdout: "info", stderr: "warning" } as const;

/** How often output is told at most, in milliseconds. */
const paceMs = 200;
/** Most of one message, in characters. */
const maxChars = 4_000;

/** What each client of the protocols of 2025 has asked for; until it does it is told nothing. */
const chosen = new WeakMap<Server, LoggingLevel>();

/** Answers `logging/setLevel`. */
export function serveLogging(server: Server): void {
  server.setRequestHandler("logging/setLevel", ({ params: { level } }) => {
    chosen.set(server, level);
    return {};
  });
}

/** Tells a client that asked for log messages what its run writes, while its call waits: stdout as info, stderr as warning. */
export class OutputMessages implements Disposable {
  readonly #context: ServerContext;
  readonly #threshold: LoggingLevel | undefined;
  #run: LiveRun | undefined;
  #cursor = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(server: Server, context: ServerContext) {
    this.#context = context;
    // In the newer protocol each request says it for itself.
    const asked = (context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[LOG_LEVEL_META_KEY];
    this.#threshold = chosen.get(server) ?? levels.find((level) => level === asked);
  }

  /** @param cursor Where what is told begins: what was written before is known. */
  follow(run: LiveRun, cursor = 0): void {
    if (this.#threshold === undefined) return;
    this.#cursor = cursor;
    this.#run = run;
    this.#timer = setInterval(() => this.#tell(), paceMs);
    this.#timer.unref();
  }

  /** What was written since is told before the answer. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#tell();
  }

  #tell(): void {
    if (this.#run === undefined || this.#context.mcpReq.signal.aborted) return;
    const page = this.#run.log.read(this.#cursor);
    this.#cursor = page.next;
    for (const stream of ["stdout", "stderr"] as const) {
      if (page[stream] !== "" && this.#wants(levelOf[stream])) this.#send(this.#run.id, stream, page[stream]);
    }
  }

  #wants(level: LoggingLevel): boolean {
    return this.#threshold !== undefined && levels.indexOf(level) >= levels.indexOf(this.#threshold);
  }

  #send(logger: string, stream: "stdout" | "stderr", text: string): void {
    // All of it is in the result, or is kept as a file.
    const params = { level: levelOf[stream], logger, data: abridged(terminalText(text), maxChars) };
    this.#context.mcpReq
      .notify({ method: "notifications/message", params })
      .catch((error) => report("a log message could not be sent", error));
  }
}
