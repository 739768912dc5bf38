import type { CloudOptions } from "../cloud-options.js";
import type { E2BQuirks } from "./quirks.js";

/** How an emulated E2B is set up. */
export interface E2BOptions extends CloudOptions {
  readonly quirks?: Partial<E2BQuirks> | undefined;
  /** Longest life of a sandbox from now, in seconds; default 24 hours, as in E2B's paid plans. */
  readonly maxTimeoutSeconds?: number | undefined;
}
