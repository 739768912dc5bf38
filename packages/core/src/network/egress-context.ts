import type { ContactBook } from "./contact.js";
import type { EgressLimits } from "./egress-limits.js";
import type { EgressJudge } from "./egress-policy.js";
import type { GuardedLookups } from "./guarded-lookup.js";

/** What the connections of one sandbox share. */
export interface EgressContext {
  readonly judge: EgressJudge;
  readonly book: ContactBook;
  readonly limits: EgressLimits;
  readonly lookup: GuardedLookups;
}
