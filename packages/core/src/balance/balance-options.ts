import * as z from "zod/mini";
import { lazily } from "../lazily.js";

/** A backend that is taken out, or back in. */
export interface BackendHealth {
  /** Its key. */
  readonly backend: string;
  /** `ERROR`: passed over until it answers again, unless all have failed. */
  readonly state: "IDLE" | "ERROR";
  /** What it said last, of one that failed. */
  readonly reason?: string | undefined;
}

/** How sandboxes are spread. */
export interface BalanceOptions {
  /** Name of the whole, in its refs; the same wherever those are used. Default `balance`. */
  readonly name?: string | undefined;
  /** Which is asked first: in the order in which they are given (`priority`, the default), or who holds fewest of ours. */
  readonly policy?: "priority" | "least-sessions" | undefined;
  /** Name of a label: sandboxes with the same value of it are made at the same backend, as long as that is well. */
  readonly affinity?: string | undefined;
  /** Failures of the backend in a row that take it out; default 3. */
  readonly failures?: number | undefined;
  /** How long after that it is asked again whether it is well, in milliseconds; longer each time. Default 15,000. */
  readonly recheckMs?: number | undefined;
  /** Told when a backend is taken out, and when it is back in. */
  readonly onHealth?: ((health: BackendHealth) => void) | undefined;
}

/** What of {@link BalanceOptions} config files may say. */
export const balanceSettings = lazily(() =>
  z.strictObject({
    policy: z.optional(
      z
        .enum(["priority", "least-sessions"])
        .check(z.describe("Who is asked first: in the order above (priority), or who holds the fewest.")),
    ),
    affinity: z.optional(
      z.string().check(z.minLength(1), z.describe("Name of a label whose value keeps sandboxes at the same backend.")),
    ),
    failures: z.optional(z.int().check(z.gte(1), z.describe("Failures in a row that take a backend out; default 3."))),
    recheckMs: z.optional(
      z
        .int()
        .check(
          z.gte(1),
          z.lte(86_400_000),
          z.describe("Until it is asked again, in ms, a day at most; default 15000."),
        ),
    ),
  }),
);

/** Of {@link BalanceOptions}. */
export const balanceOptions = lazily(() =>
  z.strictObject({
    ...balanceSettings().shape,
    name: z.optional(z.string().check(z.minLength(1))),
    onHealth: z.optional(
      z.custom<(health: BackendHealth) => void>((value) => typeof value === "function", "must be a function"),
    ),
  }),
);

/** What a backend may be called: it stands in ids, before the first dot. */
export const keyPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
