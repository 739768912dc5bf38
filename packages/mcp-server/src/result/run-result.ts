import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CellResult, EndReason, ExecResult } from "@sandkit/core";
import type { Config } from "../config.js";
import type { Used } from "../sandboxes.js";
import { displaySections } from "./displays.js";
import { ImageTray } from "./images.js";
import { duration, joinSections, type Section, streamSection } from "./text.js";

/** What a run is told with beside its own result. */
export interface RunContext {
  readonly config: Config;
  readonly timeoutSeconds: number;
}

/** A command's result: non-zero exits and timeouts are ordinary answers. */
export function commandResult(used: Used<ExecResult>, context: RunContext): CallToolResult {
  const { result } = used;
  const sections = [...streamSection("stdout", result.stdout), ...streamSection("stderr", result.stderr)];
  return assemble(used, context, endOf(result, context), sections, new ImageTray(context.config));
}

/** A cell's result: exceptions and timeouts are ordinary answers. */
export function cellResult(used: Used<CellResult>, context: RunContext): CallToolResult {
  const { result } = used;
  const images = new ImageTray(context.config);
  const sections = [
    ...streamSection("stdout", result.stdout),
    ...streamSection("stderr", result.stderr),
    ...displaySections(result, images),
    ...(result.error === undefined ? [] : [{ label: "error", text: result.error.traceback || result.error.message }]),
  ];
  const state = result.stateLost ? " Variables of earlier cells are lost; files are kept." : "";
  return assemble(used, context, endOf(result, context) + state, sections, images);
}

type Ran = Pick<ExecResult, "exitCode" | "signal" | "reason" | "durationMs" | "stdout" | "stderr"> &
  Partial<Pick<CellResult, "error" | "stateLost">>;

function assemble(
  used: Used<Ran>,
  context: RunContext,
  end: string,
  sections: readonly Section[],
  images: ImageTray,
): CallToolResult {
  const { result, entry, notice } = used;
  const body = joinSections(sections, context.config.outputChars);
  const sandbox = used.introduce ? ` Sandbox: ${entry.handle} (pass it as sandbox_id to go on in it).` : "";
  const lines = [notice, end + sandbox, "", body.text || (images.blocks.length > 0 ? "" : "(no output)")];
  return {
    content: [{ type: "text", text: lines.filter((line) => line !== undefined).join("\n") }, ...images.blocks],
    _meta: {
      "sandkit/run": {
        sandbox: entry.handle,
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
    signaled: `Ended by signal ${result.signal ?? "unknown"} after ${took}.`,
    timeout: `Stopped at the time limit of ${timeoutSeconds} s; everything it started is ended, output so far is below. Do less in one call, or pass a larger timeout (at most ${config.maxTimeoutSeconds}).`,
    aborted: `Cancelled after ${took}.`,
    output_limit: `Stopped after ${took}: it wrote more output than allowed.`,
    oom: `Stopped after ${took}: out of memory. Use less, for example by working in parts.`,
  };
  return sentences[result.reason];
}
