import type { Socket } from "node:net";

const longestHead = 64 * 1024;
/** How long a beginning that may become a request may stay one that is none. */
const undecidedMs = 500;
/**
 * A request line of HTTP/1, or what may become one. A page in a browser chooses its method, and its length: whatever HTTP
 * takes for a request is one.
 */
const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.\d\r?\n/;
const beginning = /^[\w!#$%&'*+.^`|~-]*( \S*( [HTP/.\d]*\r?)?)?$/;

/** How a client begins: with the head of an HTTP request, or with anything else, of which nothing is known. */
export interface FirstBytes {
  readonly kind: "http" | "other";
  /** All that was taken from the socket. */
  readonly bytes: Buffer;
}

/** Reads from a socket until it is clear what it speaks, and leaves it paused. */
export function firstBytesOf(socket: Socket): Promise<FirstBytes> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const decide = (kind: FirstBytes["kind"]) => {
      clearTimeout(timer);
      socket.off("data", take).off("end", end).off("close", end).pause();
      resolve({ kind, bytes });
    };
    const take = (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      const kind = kindOf(bytes);
      if (kind) decide(kind);
      else timer ??= setTimeout(late, undecidedMs);
    };
    const late = () => {
      // A client of HTTP says its first line at once; the rest of a head may take its time.
      if (!requestLine.test(bytes.toString("latin1", 0, longestHead))) decide("other");
    };
    const end = () => decide("other");
    let timer: NodeJS.Timeout | undefined;
    socket.on("data", take).on("end", end).on("close", end);
  });
}

function kindOf(bytes: Buffer): FirstBytes["kind"] | undefined {
  const text = bytes.toString("latin1", 0, longestHead);
  if (requestLine.test(text)) {
    const isWhole = /\r?\n\r?\n/.test(text) || bytes.length >= longestHead;
    return isWhole ? "http" : undefined;
  }
  if (!beginning.test(text)) return "other";
  return bytes.length >= longestHead ? "http" : undefined;
}
