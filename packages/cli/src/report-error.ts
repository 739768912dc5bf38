import { SandboxError } from "@sandkit/core";
import { CommandError } from "./command-error.js";
import { exitCodeOf } from "./exit-codes.js";
import { printableLines } from "./printable.js";
import { paintFor } from "./terminal.js";
import { type Fix, UsageError } from "./usage-error.js";

/** A message that has the end of its cause has told it: clients put words of their own before. In characters. */
const keptWords = 60;

/** Next steps that only the command knows. */
type Ways = (error: SandboxError) => readonly Fix[];

/**
 * Tells a failure on stderr, as text or as one JSON document, and gives the exit code that goes with it.
 * @param ways By default those of a command on a sandbox that somebody has made before.
 */
export function reportError(error: unknown, json: boolean, ways: Ways = another): number {
  const report = describe(error, ways);
  process.stderr.write(json ? `${JSON.stringify({ error: report.data })}\n` : toText(report));
  return report.exitCode;
}

interface ErrorReport {
  readonly exitCode: number;
  readonly causes: readonly string[];
  readonly fix: readonly Fix[];
  readonly data: Readonly<Record<string, unknown>> & { readonly code: string; readonly message: string };
}

function describe(error: unknown, ways: Ways): ErrorReport {
  const causes = causesOf(error);
  if (error instanceof SandboxError) {
    const fix = fixesOf(error, ways);
    return { exitCode: exitCodeOf(error), causes, fix, data: { ...error.toJSON(), ...coded(error), causes, fix } };
  }
  if (error instanceof UsageError) {
    const { message, fix } = error;
    return { exitCode: 2, causes, fix, data: { code: "USAGE", message, retryable: false, causes, fix } };
  }
  if (error instanceof CommandError) {
    const { code, message, exitCode, fix } = error;
    return { exitCode, causes: [], fix, data: { code, message, retryable: exitCode === 4, causes: [], fix } };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const fix = [{ text: "this is a defect of sandkit: please report it with the lines above" }];
  return { exitCode: 70, causes, fix, data: { code: "INTERNAL", message, retryable: false, causes, fix } };
}

function coded({ code, message }: SandboxError): { readonly code: string; readonly message: string } {
  return { code, message };
}

/** Codes where doing the same again is all that there is to do. The others say in their message what to mend first. */
const passing: ReadonlySet<string> = new Set(["RATE_LIMITED", "TIMEOUT", "TRANSPORT"]);
/** Where doing the same again is the way. */
export const again: Fix = { text: "try the same command again" };

/** Codes of a sandbox that ended. */
const ended: ReadonlySet<string> = new Set(["SANDBOX_LOST", "EXPIRED"]);
/** What cannot find one: an image that is not there has the same code. */
const searches: ReadonlySet<string | undefined> = new Set(["find", "attach"]);

function another({ code, operation }: SandboxError): readonly Fix[] {
  const gone = ended.has(code) || (code === "NOT_FOUND" && searches.has(operation));
  return gone
    ? [{ text: "what has ended is gone with all that was in it; make another", command: "sandkit create" }]
    : [];
}

/** Next steps in the words of this command line, the most useful first; the message has those that hold everywhere. */
function fixesOf(error: SandboxError, ways: Ways): readonly Fix[] {
  const install = "install" in error ? [{ text: "install it", command: String(error.install) }] : [];
  return [...install, ...(passing.has(error.code) ? [again] : []), ...ways(error)];
}

function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  const seen = new Set<unknown>([error]);
  let cause = error instanceof Error ? error.cause : undefined;
  // What the message tells already: a failed check would come again as a page of JSON, a missing package as Node's words.
  if (error instanceof SandboxError && "install" in error) return causes;
  while (cause !== undefined && !seen.has(cause) && !(cause instanceof Error && cause.name.endsWith("ZodError"))) {
    seen.add(cause);
    causes.push(cause instanceof Error ? cause.message : String(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

function toText({ data, causes, fix }: ErrorReport): string {
  const paint = paintFor(process.stderr);
  const where = [data.provider, data.operation].filter((part) => typeof part === "string").join(", ");
  // What a sandbox, an engine or a host has said may be among the words.
  const lines = [`${paint("red", "error")}  ${data.code}: ${printableLines(data.message)}${where && ` (${where})`}`];
  for (const cause of causes)
    if (!data.message.includes(cause.trim().slice(-keptWords)))
      lines.push(`${paint("dim", "cause")}  ${printableLines(cause)}`);
  fix.forEach(({ text, command }, index) => {
    const label = index === 0 ? `${paint("green", "fix")}  ` : "   or";
    lines.push(`${label}  ${text}${command === undefined ? "" : `: ${command}`}`);
  });
  return `${lines.join("\n")}\n`;
}
