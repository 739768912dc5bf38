import type { EmulatedBox } from "./emulated-box.js";
import { guestCommand } from "./guest-program.js";

/** What a machine says of itself; sizes in bytes. */
export interface Metrics {
  /** Seconds since 1970. */
  readonly ts: number;
  readonly cpu_count: number;
  readonly cpu_used_pct: number;
  readonly mem_total: number;
  readonly mem_used: number;
  readonly mem_cache: number;
  readonly disk_used: number;
  readonly disk_total: number;
}

/** Asks the machine itself. */
export async function measure(box: EmulatedBox, now: number): Promise<Metrics> {
  const { stdout } = (await box.sandbox.exec(await guestCommand("metrics", box.home))).orThrow();
  return { ts: Math.floor(now / 1000), ...JSON.parse(stdout.text) };
}
