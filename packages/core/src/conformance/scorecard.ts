import type { Feature, Isolation } from "../capabilities.js";

/** `not-applicable` is no pass: the provider does not declare what the case needs. */
export type Outcome = "passed" | "failed" | "skipped" | "not-applicable";

/** How one case went. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: Outcome;
  /** Why: the reason of the skip, what is missing, or the message of the failure. */
  readonly reason?: string | undefined;
  /** What a failed case threw. */
  readonly error?: unknown;
  readonly durationMs: number;
}

/** What the suite found out about a provider. Plain data but for `error`. */
export interface Scorecard {
  readonly provider: string;
  readonly isolation: Isolation;
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly cases: readonly CaseResult[];
  /** Features that the provider declares and no passed case proves. */
  readonly unproven: readonly Feature[];
  /** True when at least one case passed and none failed. */
  readonly ok: boolean;
}

/** Adds up results. */
export function countOutcomes(cases: readonly Pick<CaseResult, "outcome">[]): Record<Outcome, number> {
  const counts = { passed: 0, failed: 0, skipped: 0, "not-applicable": 0 };
  for (const { outcome } of cases) counts[outcome] += 1;
  return counts;
}

const columns: readonly Outcome[] = ["passed", "failed", "skipped", "not-applicable"];

/** A scorecard as a table for people: one line per group, then everything that is not a plain pass, with its reason. */
export function formatScorecard(scorecard: Scorecard): string {
  const groups = new Map<string, CaseResult[]>();
  for (const result of scorecard.cases) {
    const group = result.id.split(".")[0] ?? result.id;
    groups.set(group, [...(groups.get(group) ?? []), result]);
  }
  const rows = [["", ...columns], ...[...groups].map(([name, cases]) => row(name, countOutcomes(cases)))];
  const table = alignColumns([...rows, row("total", scorecard.counts)]);
  const remarks = columns.filter((outcome) => outcome !== "passed").flatMap((outcome) => remarksOn(scorecard, outcome));
  const unproven = scorecard.unproven.length > 0 ? [`declared, but not proven: ${scorecard.unproven.join(", ")}`] : [];
  const title = `${scorecard.provider} (isolation: ${scorecard.isolation}): ${verdict(scorecard)}`;
  return [title, "", ...table, ...(remarks.length > 0 ? ["", ...remarks] : []), ...unproven].join("\n");
}

/** One line per reason, with the cases that it holds for; of those that do not apply a few stand for many. */
function remarksOn({ cases }: Scorecard, outcome: Outcome): string[] {
  const byReason = new Map<string, string[]>();
  for (const { id, reason = "" } of cases.filter((result) => result.outcome === outcome)) {
    const line = firstLine(reason);
    byReason.set(line, [...(byReason.get(line) ?? []), id]);
  }
  return [...byReason].map(([reason, ids]) => {
    const shown = outcome === "not-applicable" ? ids.slice(0, 3) : ids;
    const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : "";
    return `${outcome}: ${shown.join(", ")}${more}: ${reason}`;
  });
}

function verdict({ counts, ok }: Scorecard): string {
  if (counts.passed === 0 && counts.failed === 0) return "proves nothing, no case applied";
  return ok ? "conforms to what it declares" : `does not conform, ${counts.failed} failed`;
}

function row(name: string, counts: Readonly<Record<Outcome, number>>): string[] {
  return [name, ...columns.map((outcome) => String(counts[outcome]))];
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return rows.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
