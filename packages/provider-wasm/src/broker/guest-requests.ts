import type { LinkRequest } from "../link.js";
import { bodyWindow, type GuestRequest, type NetworkFailure, type RequestNews } from "../network/messages.js";
import type { GuestWorker } from "./guest-worker.js";
import type { HttpRelay, RelayedRequest } from "./http-relay.js";

/** Requests of one interpreter that are under way, and all that are neither read to their end nor closed. */
const [mostUnderWay, mostOpen] = [64, 256];
const longestWaitMs = 2 ** 31 - 1;
const noNetwork: NetworkFailure = {
  code: "EACCES",
  message: 'this sandbox has no network: create it with network: { allow: ["example.com"] }',
};
/** One whose address and headers are more than a call carries. */
export const longRequest: NetworkFailure = { code: "EINVAL", message: "the address and the headers are too long" };
const forgotten: NetworkFailure = {
  code: "ECONNRESET",
  message: `the answer is gone: it was closed, or left unread while ${mostOpen} others were asked for`,
};
const interrupted = { interrupted: true } as const;

type Operation = (worker: GuestWorker, args: readonly unknown[], data: Uint8Array) => void;

/**
 * HTTP as an interpreter does it: it opens requests, waits for what becomes of them, and takes it, one blocking call
 * at a time. What comes from the guest is checked here as far as it is about this sandbox, and by the caller's process
 * as far as it is about the network.
 */
export class GuestRequests {
  /** Absent where the sandbox has no network. */
  readonly #relay: HttpRelay | undefined;
  readonly #requests = new Map<number, OpenRequest>();
  #nextHandle = 1;
  /** Ends the call that waits. */
  #wake: ((reply: typeof interrupted | null) => void) | undefined;

  constructor(relay: HttpRelay | undefined) {
    this.#relay = relay;
  }

  /** Answers one call. @throws Error for what no driver of ours asks */
  answer(worker: GuestWorker, name: string, args: readonly unknown[], { data }: LinkRequest): void {
    const operation = Object.hasOwn(this.#operations, name) ? this.#operations[name] : undefined;
    if (!operation) throw new Error("there is no such operation");
    operation(worker, args, data);
  }

  /** A signal has come, which no wait may hold up. */
  interrupt(): void {
    this.#wake?.(interrupted);
  }

  /** Ends everything: the interpreter is gone. */
  endAll(): void {
    this.#wake = undefined;
    for (const request of this.#requests.values()) request.close();
    this.#requests.clear();
  }

  readonly #operations: Readonly<Record<string, Operation>> = {
    open: ({ link }, [request]) => {
      if (!this.#relay) {
        link.reply({ error: noNetwork });
        return;
      }
      const underWay = [...this.#requests.values()].filter(({ over }) => !over).length;
      if (underWay >= mostUnderWay) {
        const message = `${underWay} requests of this program are under way: read them to their end, or close them`;
        link.reply({ error: { code: "EBUSY", message } });
        return;
      }
      this.#makeRoom();
      const handle = this.#nextHandle++;
      this.#requests.set(handle, new OpenRequest(this.#relay, request as GuestRequest));
      link.reply({ request: handle });
    },
    send: (worker, [handle, last], data) => {
      const request = this.#requests.get(Number(handle));
      if (!request) {
        worker.link.reply({ error: forgotten });
        return;
      }
      request.send(data, last === true);
      const taken = () => (request.takesMore ? () => worker.link.reply(null) : undefined);
      this.#waitFor(worker, longestWaitMs, taken, [request]);
    },
    /** Waits for one of several, and tells which. */
    wait: (worker, [handles, ms]) => {
      if (!Array.isArray(handles)) throw new Error("no list of requests");
      const requests = handles.map((handle: unknown) => [handle, this.#requests.get(Number(handle))] as const);
      const ready = () => {
        const found = requests.find(([, request]) => request?.hasNews ?? true);
        return found && (() => worker.link.reply(found[0]));
      };
      this.#waitFor(
        worker,
        ms,
        ready,
        requests.flatMap(([, request]) => request ?? []),
      );
    },
    /** Gives what comes next of one: a number of bytes, or what has happened. */
    take: (worker, [handle, ms, most]) => {
      const request = this.#requests.get(Number(handle));
      if (!request) {
        worker.link.reply({ error: forgotten });
        return;
      }
      const give = () => this.#give(worker, Number(handle), request, Number(most) || 0);
      const ready = () => (request.hasNews ? give : undefined);
      this.#waitFor(worker, ms, ready, [request]);
    },
    close: ({ link }, [handle]) => {
      this.#requests.get(Number(handle))?.close();
      this.#requests.delete(Number(handle));
      link.reply(null);
    },
  };

  /** Of the answers that nobody has read, the oldest one goes. */
  #makeRoom(): void {
    if (this.#requests.size < mostOpen) return;
    const oldest = [...this.#requests].find(([, { over }]) => over);
    if (oldest) this.#requests.delete(oldest[0]);
  }

  #give(worker: GuestWorker, handle: number, request: OpenRequest, most: number): void {
    const { link } = worker;
    const next = request.take(link.replyArea.subarray(0, Math.max(0, most)));
    const isOver = typeof next === "object" && next !== null && ("end" in next || "error" in next);
    if (isOver) this.#requests.delete(handle);
    link.reply(next, typeof next === "number" ? next : 0);
  }

  /** Replies as soon as `ready` gives how; with null after so long, and at once before a signal. */
  #waitFor(
    worker: GuestWorker,
    ms: unknown,
    ready: () => (() => void) | undefined,
    requests: readonly OpenRequest[],
  ): void {
    const now = ready();
    if (now || worker.signalPending) {
      if (now) now();
      else worker.link.reply(interrupted);
      return;
    }
    const limit = Math.min(Math.max(Number(ms) || 0, 0), longestWaitMs);
    const done = (reply: () => void) => {
      clearTimeout(timer);
      this.#wake = undefined;
      for (const request of requests) request.onNews = undefined;
      reply();
    };
    const timer = setTimeout(() => done(() => worker.link.reply(null)), limit);
    this.#wake = (reply) => done(() => worker.link.reply(reply));
    for (const request of requests) {
      request.onNews = () => {
        const reply = ready();
        if (reply) done(reply);
      };
    }
  }
}

/** One request and what has come of it that the guest has not taken. */
class OpenRequest {
  readonly #relayed: RelayedRequest;
  readonly #news: RequestNews[] = [];
  #unsent = 0;
  #over = false;
  onNews: (() => void) | undefined;

  constructor(relay: HttpRelay, request: GuestRequest) {
    this.#relayed = relay.open(request, {
      news: (news) => {
        this.#over ||= "end" in news || "error" in news;
        this.#news.push(news);
        this.onNews?.();
      },
      sent: (bytes) => {
        this.#unsent -= bytes;
        this.onNews?.();
      },
    });
  }

  /** Whether all of its answer is here. */
  get over(): boolean {
    return this.#over;
  }

  get hasNews(): boolean {
    return this.#news.length > 0;
  }

  /** Whether a further piece of the body would have its place; one that nobody wants any more always has. */
  get takesMore(): boolean {
    return this.#over || this.#unsent < bodyWindow;
  }

  send(bytes: Uint8Array, last: boolean): void {
    if (this.#over) return;
    this.#unsent += bytes.length;
    this.#relayed.body(bytes, last);
  }

  /** What comes next; bytes go into the area, as many as there are and fit. */
  take(area: Uint8Array): Exclude<RequestNews, { bytes: Uint8Array }> | number | null {
    let filled = 0;
    for (let next = this.#news[0]; next && filled < area.length; next = this.#news[0]) {
      if (!("bytes" in next)) break;
      const part = next.bytes.subarray(0, area.length - filled);
      area.set(part, filled);
      filled += part.length;
      if (part.length < next.bytes.length) this.#news[0] = { bytes: next.bytes.subarray(part.length) };
      else this.#news.shift();
    }
    if (filled === 0) return this.#takeEvent();
    if (!this.#over) this.#relayed.taken(filled);
    return filled;
  }

  close(): void {
    this.#relayed.close();
  }

  #takeEvent(): Exclude<RequestNews, { bytes: Uint8Array }> | null {
    const [next] = this.#news;
    // Bytes, of which nobody wants any: they wait.
    if (!next || "bytes" in next) return null;
    this.#news.shift();
    return next;
  }
}
