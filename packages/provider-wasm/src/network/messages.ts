import type { NetworkFailure } from "@sandkit/core/network";

export type { NetworkErrno, NetworkFailure } from "@sandkit/core/network";

/** What passes between a guest that speaks HTTP and the caller's process, which does it. All of it is plain data. */

/** A request as the guest asks for it: nothing of it is believed before it is checked. */
export interface GuestRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** How many bytes of a body follow; -1 where that is not known, null where there is none. */
  readonly bodyBytes: number | null;
  /** Whether the body of the answer comes without its content encoding, as `fetch` has it. */
  readonly decode: boolean;
}

/** What an answer begins with. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The address that was asked, as it was understood. */
  readonly url: string;
  /** Where the answer sends its reader, as a whole address. */
  readonly location?: string | undefined;
}

/** What becomes of a request, in this order; `end` or `error` is the last. */
export type RequestNews =
  | { readonly connected: true }
  | { readonly head: ResponseHead }
  | { readonly bytes: Uint8Array }
  | { readonly end: true }
  | { readonly error: NetworkFailure };

/** Bytes of one body, in either direction, that may be under way before their sender is held up. */
export const bodyWindow = 256 * 1024;
