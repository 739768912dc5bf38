import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CellResult, EndReason, ExecResult, FileInfo } from "@sandkit/core";
import type { Run } from "../changed-files.js";
import type { Config } from "../config.js";
import { linkTo } from "../resources.js";
import type { Used } from "../sandboxes.js";
import { displaySections } from "./displays.js";
import { ImageTray } from "./images.js";
import { introduction } from "./introduction.js";
import { duration, joinSections, type Section, size, streamSection } from "./text.js";

/** Links to files in one result. */
const maxLinks = 10;

/** What a run is told with beside its own result. */
export interface RunContext {
  readonly config: Config;
  readonly timeoutSeconds: number;
  /** Whether the client's protocol knows links to files. */
  readonly links: boolean;
}

/** A command's result: non-zero exits and timeouts are ordinary answers. */
export function commandResult(used: Used<Run<ExecResult>>, context: RunContext): CallToolResult {
  const result = used.result.ended;
  const sections = [...streamSection("stdout", result.stdout), ...streamSection("stderr", result.stderr)];
  return assemble(used, context, endOf(result, context), sections, new ImageTray(context.config));
}

/** A cell's result: exceptions and timeouts are ordinary answers. */
export function cellResult(used: Used<Run<CellResult>>, context: RunContext): CallToolResult {
  const result = used.result.ended;
  const images = new ImageTray(context.config);
  const sections = [
    ...streamSection("stdout", result.stdout),
    ...streamSection("stderr", result.stderr),
    ...displaySections(result, images),
    ...(result.error === undefined ? [] : [{ label: "error", text: result.error.traceback || result.error.message }]),
  ];
  const state = stateSentence(result);
  return assemble(used, context, endOf(result, context) + state, sections, images);
}

function filesLine(changed: readonly FileInfo[]): string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, maxLinks).map((file) => `${file.path} (${size(file.size)})`);
  const more = changed.length > maxLinks ? ` and ${changed.length - maxLinks} more` : "";
  return [`[files written] ${named.join(", ")}${more}`];
}

function stateSentence({ stateLost, reason }: CellResult): string {
  if (stateLost) return " Variables of earlier cells are lost; files are kept.";
  return reason === "timeout" ? " Variables of earlier cells are kept." : "";
}

type Ran = Pick<ExecResult, "exitCode" | "signal" | "reason" | "durationMs" | "stdout" | "stderr"> &
  Partial<Pick<CellResult, "error" | "stateLost">>;

function assemble(
  used: Used<Run<Ran>>,
  context: RunContext,
  end: string,
  sections: readonly Section[],
  images: ImageTray,
): CallToolResult {
  const { handle } = used;
  const { ended: result, changed } = used.result;
  const body = joinSections(sections, context.config.outputChars);
  const text = body.text || (images.blocks.length > 0 ? undefined : "(no output)");
  const lines = [end + introduction(used), ...(text === undefined ? [] : ["", text]), ...filesLine(changed)];
  const links = context.links ? changed.slice(0, maxLinks).map((file) => linkTo(handle, file)) : [];
  return {
    content: [{ type: "text", text: lines.join("\n") }, ...images.blocks, ...links],
    _meta: {
      "sandkit/run": {
        sandbox: handle,
        exitCode: result.exitCode,
        ...(result.signal === undefined ? {} : { signal: result.signal }),
        reason: result.reason,
        durationMs: Math.round(result.durationMs),
        truncated: body.truncated,
        ...(result.stateLost === undefined ? {} : { stateLost: result.stateLost }),
        ...(result.error === undefined ? {} : { error: result.error.name }),
      },
    },
  };
}

function endOf(result: Ran, { timeoutSeconds, config }: RunContext): string {
  const took = duration(result.durationMs);
  const sentences: Record<EndReason, string> = {
    exited: result.error
      ? `Raised ${result.error.name} (exit code ${result.exitCode}) after ${took}.`
      : `Exited with code ${result.exitCode} after ${took}.`,
    signaled: result.signal ? `Ended by signal ${result.signal} after ${took}.` : `The interpreter died after ${took}.`,
    timeout: `Stopped at the time limit of ${timeoutSeconds} s; everything it started is ended, output so far is below. Do less in one call, or pass a larger timeout (at most ${config.maxTimeoutSeconds}).`,
    aborted: `Cancelled after ${took}.`,
    output_limit: `Stopped after ${took}: it wrote more output than allowed.`,
    oom: `Stopped after ${took}: out of memory. Use less, for example by working in parts.`,
  };
  return sentences[result.reason];
}
