/** A package that is in a sandbox, as its own metadata tells it: the guest may have written anything there. */
export interface PresentPackage {
  readonly version: string;
  /** Its `Requires-Dist`, as they are written. */
  readonly requires: readonly string[];
}
