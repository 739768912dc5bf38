import { UsageError } from "./usage-error.js";

/** An option in seconds as milliseconds; undefined when it was not given. @throws UsageError */
export function parseSeconds(option: string, value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  if (seconds > 0 && seconds <= 2_000_000) return seconds * 1000;
  throw new UsageError(`option "--${option}" cannot be "${value}"`, [
    { text: `a number of seconds above 0: --${option} 30` },
  ]);
}
