import type { Isolation } from "../capabilities.js";

/** The five things that a sandbox is attacked on, as people call them, in the order in which they are tried. */
export const checkTitles = {
  processes: "process isolation",
  files: "file containment",
  limits: "resource limits",
  network: "network restriction",
  "clean-up": "clean-up",
} as const;

export type CheckName = keyof typeof checkTitles;

/** How bad it is when an attack succeeds. */
export type Severity = "critical" | "high" | "medium";

/**
 * `held`: the attack was made and got nothing. `failed`: it had what it wanted. `permitted`: it had what the caller's
 * options give every program. `untried`: nothing is known.
 */
export type Outcome = "held" | "failed" | "permitted" | "untried";

/** One attack, and what came of it. */
export interface Finding {
  /** Stable and dotted, the check first: `files.host`. */
  readonly id: string;
  readonly check: CheckName;
  /** What must be true. */
  readonly title: string;
  readonly outcome: Outcome;
  readonly severity: Severity;
  /** What was tried and what happened, or why it could not be tried. */
  readonly evidence: string;
  /** What a person can do about it; of failures alone. */
  readonly fix?: string | undefined;
}

/** What the attacks on one provider found. Plain JSON. */
export interface SecurityReport {
  readonly provider: string;
  /** What the attacked sandbox declares. */
  readonly isolation: Isolation;
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly findings: readonly Finding[];
  /** Every attack was made, and none had what it wanted: of one that was not made nobody knows what it would have had. */
  readonly ok: boolean;
}

/** Counts the findings and says whether they are enough to say yes. */
export function toReport(provider: string, isolation: Isolation, findings: readonly Finding[]): SecurityReport {
  const counts = { held: 0, failed: 0, permitted: 0, untried: 0 };
  for (const { outcome } of findings) counts[outcome] += 1;
  const ok = counts.failed === 0 && counts.untried === 0 && counts.held > 0;
  return { provider, isolation, counts, findings, ok };
}
