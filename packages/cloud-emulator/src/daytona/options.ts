import type { CloudOptions } from "../cloud-options.js";
import type { DaytonaQuirks } from "./quirks.js";

/** How an emulated Daytona is set up. */
export interface DaytonaOptions extends CloudOptions {
  /** Habits of the service; those not named are as they are there. */
  readonly quirks?: Partial<DaytonaQuirks> | undefined;
  /** What kind of machine all sandboxes are; only `linux-vm` can be paused and forked. Default `container`. */
  readonly sandboxClass?: "container" | "linux-vm" | undefined;
}
