import type { GuestRequest, NetworkFailure, ResponseHead } from "../../network/messages.js";
import { bufferOf, call, host, longestPiece } from "./host.js";

/** What comes next of a request. */
export type Told =
  | { readonly connected: true }
  | { readonly head: ResponseHead }
  | { readonly bytes: Uint8Array }
  | { readonly end: true };
type Event = Exclude<Told, { bytes: Uint8Array }> | { readonly error: NetworkFailure } | null;

interface Waiting {
  readonly resolve: (told: Told) => void;
  readonly reject: (error: unknown) => void;
}

const { parse, stringify } = JSON;

/** The requests of one interpreter. There is no other thread: news of them are taken when the driver asks for it. */
export class Requests {
  readonly #waiting = new Map<number, Waiting>();

  /** Whether anybody waits for news. */
  get pending(): boolean {
    return this.#waiting.size > 0;
  }

  /** Begins a request. @throws TypeError for one that cannot even begin */
  open(request: GuestRequest): number {
    const opened = call<{ request: number } | { error: NetworkFailure }>("http.open", request);
    if ("error" in opened) throw failure(opened.error);
    return opened.request;
  }

  /** Gives the whole of a body, waiting where its reader does. */
  send(id: number, body: Uint8Array): void {
    let start = 0;
    do {
      const piece = bufferOf(body, start, longestPiece);
      start += longestPiece;
      host().send("http.send", stringify([id, start >= body.length]), piece, piece.byteLength);
    } while (start < body.length);
  }

  /** What comes next. One at a time for each request. */
  next(id: number): Promise<Told> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Ends a request; whoever waits for it is told `reason`. */
  close(id: number, reason: unknown): void {
    call("http.close", id);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.reject(reason);
  }

  /** Ends all that anybody waits for. */
  closeAll(reason: unknown): void {
    for (const id of [...this.#waiting.keys()]) this.close(id, reason);
  }

  /** Blocks for so long, or until there is news of one request or a signal, and passes the news on. */
  wait(ms: number): void {
    const ready = call<unknown>("http.wait", [...this.#waiting.keys()], ms);
    if (typeof ready !== "number") return;
    const waiting = this.#waiting.get(ready);
    this.#waiting.delete(ready);
    const reply = host().receive("http.take", stringify([ready, 0, longestPiece]), longestPiece);
    if (typeof reply !== "string") {
      waiting?.resolve({ bytes: new Uint8Array(reply) });
      return;
    }
    const event = parse(reply) as Event;
    if (event === null) throw new Error("there is no news of a request that was said to have some");
    if ("error" in event) waiting?.reject(failure(event.error));
    else waiting?.resolve(event);
  }
}

/** As Node has it, with the reason in the message too. */
function failure({ code, message }: NetworkFailure): TypeError {
  return new TypeError(`fetch failed: ${message}`, { cause: Object.assign(new Error(message), { code }) });
}
