/**
 * Has a program hand over what its last statement gives, where that is a call of its own on the outermost level, as in
 * `main();`. QuickJS tells nobody of promises that are rejected without a handler, and this is where programs drop
 * theirs. Looks at lines alone: what it does not understand stays as it is.
 */
export function handOver(code: string, keyword: "return" | "await"): string {
  const lines = code.split("\n");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const line = lines[last] ?? "";
  const first = isCall(line) ? last : endsFunction(line) ? startOf(lines, last) : -1;
  if (first < 0) return code;
  lines[first] = `${keyword} ${lines[first]}`;
  return lines.join("\n");
}

const statements = /^(?:if|for|while|switch|with|do|return|throw|function|class|import|export|super|catch|await)\b/;

/** A line that is one call, and nothing after it. */
function isCall(line: string): boolean {
  return /^[A-Za-z_$][\w$.]*\([^;]*\)\s*;?\s*$/.test(line) && !statements.test(line);
}

function endsFunction(line: string): boolean {
  return /^\}\)\([^;]*\)\s*;?\s*$/.test(line);
}

/** The line where the last statement begins; -1 where it is no asynchronous function that is called at once. */
function startOf(lines: readonly string[], last: number): number {
  const first = lines.findLastIndex((line, index) => index < last && /^[A-Za-z_$(['"`]/.test(line));
  return /^\(async\b/.test(lines[first] ?? "") ? first : -1;
}
