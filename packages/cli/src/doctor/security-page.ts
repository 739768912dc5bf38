import { checkTitles, type Finding, type Outcome, type SecurityReport } from "@sandkit/core/security";
import { printable } from "../printable.js";
import { paintFor } from "../terminal.js";

const margin = " ".repeat(19);
/** More of it is in the JSON. In characters. */
const evidenceShown = 180;

/** What the attacks on one provider found, for people: check by check, with what was tried, and the verdict last. */
export function securityPage(report: SecurityReport): string {
  const paint = paintFor(process.stdout);
  const lines = [paint("bold", `${report.provider} (isolation: ${report.isolation})`), ""];
  for (const check of new Set(report.findings.map((finding) => finding.check))) {
    const findings = report.findings.filter((finding) => finding.check === check);
    lines.push(`${paint("bold", checkTitles[check])}: ${verdictOf(findings, paint)}`);
    for (const finding of findings) lines.push(...linesOf(finding, paint));
    lines.push("");
  }
  const { held, failed, permitted, untried } = report.counts;
  const counts = [
    `${held} attacks held`,
    `${failed} had what they wanted`,
    ...(permitted > 0 ? [`${permitted} had what the options give`] : []),
    `${untried} could not be made`,
  ];
  const verdict = report.ok ? paint("green", "HELD") : paint("red", failed > 0 ? "FAILED" : "NOT KNOWN");
  lines.push(`${verdict}  ${counts.join(", ")}`);
  return `${lines.join("\n")}\n`;
}

type Paint = ReturnType<typeof paintFor>;

function verdictOf(findings: readonly Finding[], paint: Paint): string {
  const count = (outcome: Outcome) => findings.filter((finding) => finding.outcome === outcome).length;
  if (count("failed") > 0) return paint("red", `FAILED, ${count("failed")} of ${findings.length}`);
  if (count("untried") > 0) return paint("red", `not known, ${count("untried")} of ${findings.length} untried`);
  return paint("green", "held");
}

function linesOf({ outcome, severity, title, evidence, fix }: Finding, paint: Paint): string[] {
  const word = {
    held: paint("green", "held   "),
    failed: paint("red", "FAILED "),
    permitted: "given  ",
    untried: paint("red", "untried"),
  }[outcome];
  const shown =
    outcome === "held" && evidence.length > evidenceShown ? `${evidence.slice(0, evidenceShown)}…` : evidence;
  const lines = [`  ${word}  ${severity.padEnd(8)}  ${title}`, `${margin}  ${paint("dim", printable(shown))}`];
  return fix === undefined ? lines : [...lines, `${margin}  ${paint("green", "fix")}  ${fix}`];
}
