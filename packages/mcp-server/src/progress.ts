import type { ServerContext } from "@modelcontextprotocol/server";
import { report } from "./report.js";

const heartbeatMs = 3_000;

/** Tells a client that asked for it that its call is alive, every few seconds and whenever there is something new. */
export class Progress implements Disposable {
  readonly #context: ServerContext;
  readonly #token: string | number | undefined;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #said = "running";
  #followed: () => string | undefined = () => undefined;
  #last = 0;
  #over = false;

  constructor(context: ServerContext) {
    this.#context = context;
    this.#token = context.mcpReq._meta?.progressToken;
    if (this.#token === undefined) return;
    this.#timer = setInterval(() => this.#send(), heartbeatMs);
    this.#timer.unref();
  }

  readonly say = (message: string): void => {
    this.#said = message;
    this.#send();
  };

  /** From now on every notice tells what this gives at that time; where that is nothing, what was said last. */
  follow(message: () => string | undefined): void {
    this.#followed = message;
  }

  [Symbol.dispose](): void {
    this.#over = true;
    clearInterval(this.#timer);
  }

  #send(): void {
    if (this.#token === undefined || this.#over || this.#context.mcpReq.signal.aborted) return;
    const seconds = (performance.now() - this.#started) / 1000;
    // Clients expect every value to be larger than the one before.
    this.#last = Math.max(seconds, this.#last + 0.001);
    const params = {
      progressToken: this.#token,
      progress: this.#last,
      message: `${this.#followed() ?? this.#said} (${Math.round(seconds)} s)`,
    };
    this.#context.mcpReq
      .notify({ method: "notifications/progress", params })
      .catch((error) => report("a progress notice could not be sent", error));
  }
}
