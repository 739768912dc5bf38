import type { CallToolResult } from "@modelcontextprotocol/server";
import { failedResult } from "../result/failed-result.js";
import { runResult } from "../result/run-result.js";
import { runningResult } from "../result/running-result.js";
import { showRest } from "../result/shown-output.js";
import type { LiveRun } from "../runs/live-run.js";
import type { LogPage } from "../runs/run-log.js";
import type { Work } from "../runs/work.js";
import type { ToolCall } from "./tool.js";

/**
 * Starts work and waits for it. What has not ended after `waitSeconds` goes on, and the answer is its handle; a caller
 * who goes away before that ends it.
 * @throws SandboxError `RATE_LIMITED` at the cap of runs
 */
export async function startRun(call: ToolCall, work: Work, waitSeconds: number): Promise<CallToolResult> {
  const notices: string[] = [];
  const making = { ...call.making, onNotice: (notice: string) => void notices.push(notice) };
  const run = call.runs.start({ sandboxes: call.sandboxes, work, making, notices });
  const leave = () => run.cancel(call.signal.reason);
  if (call.signal.aborted) leave();
  call.signal.addEventListener("abort", leave, { once: true });
  call.progress.follow(() => run.latest);
  call.output.follow(run);
  const ms = waitSeconds * 1000;
  // A program that takes input has said what it says by itself when it falls silent.
  if (work.interactive) await run.replies(0, ms, call.signal);
  else await run.settles(ms, call.signal);
  call.signal.removeEventListener("abort", leave);
  // Nobody hears the answer; the call is over when what it started is.
  if (call.signal.aborted) await run.ended;
  // Somebody who knows the process may have read it meanwhile; the one who started it gets everything.
  return answer(call, run, run.log.read(0));
}

/** What a call answers for a run: its outcome where it has ended, else how far it is. */
export function answer(call: ToolCall, run: LiveRun, page: LogPage): CallToolResult {
  for (const notice of run.notices.splice(0)) call.making.onNotice?.(notice);
  const { outcome } = run;
  run.cursor = page.next;
  if (outcome === undefined) {
    // Where all of it can be read is told once.
    const links = call.links && !run.yielded;
    run.yielded = true;
    const introduce = call.implicit === "fresh" && run.work.sandboxId === undefined && !run.introduced;
    if (run.handle !== undefined) run.introduced = true;
    return runningResult(run, page, { introduce, links, config: call.config, ahead: call.runs.ahead(run) });
  }
  if (!run.yielded) call.runs.forget(run);
  if (run.neverBegan) return { content: [{ type: "text", text: `Process ${run.id} was stopped before it began.` }] };
  if ("error" in outcome) return failedResult(outcome.error, page, call.config);
  const context = { config: call.config, links: call.links, timeoutSeconds: run.work.timeoutSeconds };
  if (!run.yielded) return runResult(outcome.used, context);
  const { ended, shown } = outcome.used.result;
  const rest = page.next - page.from === run.log.end ? shown : showRest(ended, page, call.config);
  return runResult(outcome.used, { ...context, resumed: { process: run.id, shown: rest, cursor: page.next } });
}
