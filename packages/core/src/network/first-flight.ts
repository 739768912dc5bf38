import type { Duplex } from "node:stream";
import { type ParsedClientHello, parseClientHello } from "./client-hello.js";

export interface FirstFlight {
  readonly bytes: Buffer;
  readonly first: ParsedClientHello;
}

/**
 * Takes what a client says first, until it is known what that is. A client that ends, fails or is not done in time has
 * said as much as it has said.
 */
export async function readFirstFlight(client: Duplex, withinMs: number | undefined): Promise<FirstFlight> {
  const pieces: Buffer[] = [];
  let length = 0;
  let first: ParsedClientHello = { is: "incomplete", needed: 1 };
  const late = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
  while (first.is === "incomplete") {
    const piece = client.read() as Buffer | null;
    if (piece) {
      pieces.push(piece);
      length += piece.length;
      if (length >= first.needed) first = parseClientHello(Buffer.concat(pieces));
    } else if (!(await isReadable(client, late))) break;
  }
  return { bytes: Buffer.concat(pieces), first };
}

/** Resolves with whether there is something to be read. */
function isReadable(client: Duplex, late: AbortSignal | undefined): Promise<boolean> {
  if (client.readableEnded || client.destroyed || late?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (readable: boolean) => {
      client.off("readable", ready).off("end", over).off("close", over);
      late?.removeEventListener("abort", over);
      resolve(readable);
    };
    const ready = () => settle(true);
    const over = () => settle(false);
    client.on("readable", ready).on("end", over).on("close", over);
    late?.addEventListener("abort", over, { once: true });
  });
}
