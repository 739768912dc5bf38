const minuteMs = 60_000;

/** Daytona counts in whole minutes, and takes none for never: rounded up, at least one. */
export function minutesOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / minuteMs));
}
