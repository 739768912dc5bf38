import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Config } from "../config.js";
import { logLinkTo } from "../resources/links.js";
import type { LiveRun } from "../runs/live-run.js";
import type { LogPage } from "../runs/run-log.js";
import { introduction } from "./introduction.js";
import { showPage } from "./shown-output.js";
import { duration } from "./text.js";

export interface RunningContext {
  readonly config: Config;
  readonly links: boolean;
  /** Whether the caller cannot know the sandbox yet. */
  readonly introduce: boolean;
  /** Runs that this one waits for. */
  readonly ahead: readonly LiveRun[];
}

/** The answer about a run that goes on: its handle, how far it is, and what it has written since the last answer. */
export function runningResult(run: LiveRun, page: LogPage, context: RunningContext): CallToolResult {
  const { config, links, ahead } = context;
  const shown = showPage(page, config);
  const where = run.handle === undefined ? "" : introduction({ introduce: context.introduce, handle: run.handle });
  const lines = [`${stateOf(run, ahead)} ${nextSteps(run)}${where}`];
  lines.push("", shown.text || "(no output so far)");
  return {
    content: [{ type: "text", text: lines.join("\n") }, ...(links ? [logLinkTo(run)] : [])],
    _meta: {
      "sandkit/run": {
        ...(run.handle === undefined ? {} : { sandbox: run.handle }),
        process: run.id,
        running: true,
        durationMs: Math.round(run.elapsedMs),
        bytes: { ...run.log.bytes },
        truncated: shown.truncated || page.missed > 0,
        cursor: page.next,
      },
    },
  };
}

function stateOf(run: LiveRun, ahead: readonly LiveRun[]): string {
  const since = duration(run.elapsedMs);
  if (run.stopped) return `Process ${run.id} was asked to stop and has not ended yet.`;
  if (run.handle === undefined) return `Process ${run.id} has waited ${since} for its sandbox.`;
  if (run.installing) return `Process ${run.id} installs its packages first, for ${since} so far.`;
  if (ahead.length > 0) {
    return `Process ${run.id} has waited ${since} for its turn, behind ${ahead.map(({ id }) => id).join(", ")}.`;
  }
  return `Process ${run.id} has been running for ${since}; its time limit is ${run.work.timeoutSeconds} s.`;
}

function nextSteps(run: LiveRun): string {
  const write = run.takesInput ? ", write to its stdin" : "";
  return `It goes on by itself: read its output${write} or stop it with the tool process.`;
}
