import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CellResult, EndReason, ExecResult, FileInfo } from "@sandkit/core";
import type { Config } from "../config.js";
import type { Kept } from "../kept-output.js";
import { linkTo } from "../resources/links.js";
import type { Used } from "../sandboxes.js";
import { introduction } from "./introduction.js";
import type { ShownOutput } from "./shown-output.js";
import { shownPath } from "./shown-path.js";
import { abridged, duration, size } from "./text.js";

/** Longest name of an exception that is told, in characters; the traceback has it whole. */
const maxNameChars = 100;

/** Links to files in one result. */
const maxLinks = 10;

/** What a run is told with beside its own result. */
export interface RunContext {
  readonly config: Config;
  readonly timeoutSeconds: number;
  /** Whether the client's protocol knows links to files. */
  readonly links: boolean;
  /** For a run that has answered before: its handle, and what to show instead of all its output. */
  readonly resumed?: { readonly process: string; readonly shown: ShownOutput; readonly cursor: number } | undefined;
}

/** How a run can have ended: a command or a cell. */
export type RunEnd = ExecResult | CellResult;

/** A run and what is told of it. */
export interface Run {
  readonly ended: RunEnd;
  readonly shown: ShownOutput;
  /** New or different files under the working directory. */
  readonly changed: readonly FileInfo[];
  /** What is too long to show, or no text. */
  readonly kept: readonly Kept[];
}

/** The result of a command or a cell: non-zero exits, exceptions and timeouts are ordinary answers. */
export function runResult(used: Used<Run>, context: RunContext): CallToolResult {
  const { ended, changed, kept } = used.result;
  const shown = context.resumed?.shown ?? used.result.shown;
  const body = shown.text || (shown.images.length > 0 ? undefined : "(no output)");
  const text = [
    (context.resumed ? `Process ${context.resumed.process}: ` : "") +
      endOf(ended, context) +
      stateSentence(ended) +
      introduction(used),
    ...(body === undefined ? [] : ["", body]),
    ...kept.map(keptLine),
    ...filesLine(changed),
  ].join("\n");
  const files = [...kept.flatMap(({ file }) => ("path" in file ? [file] : [])), ...changed.slice(0, maxLinks)];
  const links = context.links ? files.map((file) => linkTo(used.handle, file)) : [];
  return {
    content: [{ type: "text", text }, ...shown.images, ...links],
    _meta: { "sandkit/run": recordOf(used, context, files) },
  };
}

function recordOf(
  { handle, result: { ended, shown } }: Used<Run>,
  { resumed }: RunContext,
  files: readonly { readonly path: string }[],
): Record<string, unknown> {
  return {
    sandbox: handle,
    ...(resumed === undefined ? {} : { process: resumed.process, running: false, cursor: resumed.cursor }),
    exitCode: ended.exitCode,
    ...("signal" in ended && ended.signal !== undefined ? { signal: ended.signal } : {}),
    reason: ended.reason,
    durationMs: Math.round(ended.durationMs),
    bytes: { stdout: ended.stdout.totalBytes, stderr: ended.stderr.totalBytes },
    truncated: shown.truncated,
    ...(files.length === 0 ? {} : { files: files.map(({ path }) => path) }),
    ...("stateLost" in ended ? { stateLost: ended.stateLost } : {}),
    ...("error" in ended && ended.error !== undefined ? { error: abridged(ended.error.name, maxNameChars) } : {}),
  };
}

function keptLine({ label, file, totalBytes }: Kept): string {
  if ("problem" in file) return `[${label}] could not be kept in the sandbox: ${file.problem}`;
  const bytes = totalBytes === undefined ? size(file.size) : `${size(file.size)} of ${size(totalBytes)}`;
  const next = file.path.endsWith(".txt") ? ": read it by lines with read_file, or search it with code" : "";
  return `[${label}] ${file.path} (${bytes})${next}`;
}

function filesLine(changed: readonly FileInfo[]): string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, maxLinks).map((file) => `${shownPath(file.path)} (${size(file.size)})`);
  const more = changed.length > maxLinks ? ` and ${changed.length - maxLinks} more` : "";
  return [`[files written] ${named.join(", ")}${more}`];
}

function stateSentence(ended: RunEnd): string {
  if (!("stateLost" in ended)) return "";
  const { stateLost, reason } = ended;
  if (stateLost) return " Variables of earlier cells are lost; files are kept.";
  return reason === "timeout" ? " Variables of earlier cells are kept." : "";
}

function endOf(result: RunEnd, { timeoutSeconds, config }: RunContext): string {
  const took = duration(result.durationMs);
  const error = "error" in result ? result.error : undefined;
  const signal = "signal" in result ? result.signal : undefined;
  const sentences: Record<EndReason, string> = {
    exited: error
      ? `Raised ${abridged(error.name, maxNameChars)} (exit code ${result.exitCode}) after ${took}.`
      : `Exited with code ${result.exitCode} after ${took}.`,
    signaled: signal ? `Ended by signal ${signal} after ${took}.` : `The interpreter died after ${took}.`,
    timeout: `Stopped at the time limit of ${timeoutSeconds} s; everything it started is ended, output so far is below. Do less in one call, or pass a larger timeout (at most ${config.maxTimeoutSeconds}).`,
    aborted: `Cancelled after ${took}.`,
    output_limit: `Stopped after ${took}: it wrote more output than allowed.`,
    oom: `Stopped after ${took}: out of memory. Use less, for example by working in parts.`,
  };
  return sentences[result.reason];
}
