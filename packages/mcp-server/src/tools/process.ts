import { SandboxError } from "@sandkit/core";
import * as z from "zod";
import { report } from "../report.js";
import { invalid } from "../result/error-result.js";
import { duration } from "../result/text.js";
import type { LiveRun } from "../runs/live-run.js";
import type { RunInput } from "../runs/work.js";
import { answer } from "./start-run.js";
import { checkSize, defineTool, type ToolCall, waitSeconds } from "./tool.js";

/** How long a call waits where nothing is asked for, in seconds. */
const usualWaitSeconds = 5;
/** How long a stop is waited for at least: a program may need its grace, in seconds. */
const stopSeconds = 10;

/** How long the start of a program is waited for at least, in milliseconds. */
const startMs = 10_000;

const endOfInput = "\u0004";
const interrupt = "\u0003";
const keys = new RegExp(`([${endOfInput}${interrupt}])`);

export const processTool = defineTool({
  name: "process",
  description: () =>
    "Go on with a run that has not ended: read (new output), write (input to stdin; \\u0004 ends it, \\u0003 interrupts), stop, list.",
  input: (context) =>
    z.strictObject({
      process: z.string().min(1).optional(),
      action: z.enum(["read", "write", "stop", "list"]).optional(),
      input: z.string().min(1, "must not be empty").optional(),
      cursor: z.int().min(0).max(1e12).meta({ description: "Read again from here" }).optional(),
      wait_s: waitSeconds(context, `Seconds to wait for its end, default ${usualWaitSeconds}`),
    }),
  annotations: ({ openWorld }) => ({ readOnlyHint: false, destructiveHint: openWorld, openWorldHint: openWorld }),
  act: ({ action, input }) =>
    input === undefined
      ? { act: `${action ?? "read"} a run`, changes: false }
      : { act: "give input to a program", text: input, parameter: "input", changes: true },
  async run(input, call) {
    const action = input.action ?? (input.input === undefined ? "read" : "write");
    if (action === "list") return list(call);
    if (input.process === undefined) {
      throw invalid(`process: process is missing: pass the handle from the result that gave it, or action "list"`);
    }
    const run = call.runs.find(input.process);
    call.progress.follow(() => run.latest);
    call.output.follow(run, input.cursor ?? run.cursor);
    const wait = (input.wait_s ?? usualWaitSeconds) * 1000;
    if (action === "write") await write(run, input.input, wait, call);
    else {
      if (input.input !== undefined) throw invalid(`process: input goes with action "write", not "${action}"`);
      if (action === "stop") run.stop();
      await run.settles(action === "stop" ? Math.max(wait, stopSeconds * 1000) : wait, call.signal);
    }
    return answer(call, run, run.log.read(input.cursor ?? run.cursor));
  },
});

async function write(run: LiveRun, text: string | undefined, waitMs: number, call: ToolCall): Promise<void> {
  if (text === undefined) throw invalid("process: input is missing: pass the text for stdin");
  checkSize("input", text, call);
  if (run.outcome !== undefined) return;
  if (!run.takesInput) {
    throw invalid(
      `process: ${run.id} takes no input: its stdin is closed. Start the program by exec with interactive true, or pass stdin; stop ends this one`,
    );
  }
  const input = await run.input(Math.max(waitMs, startMs), call.signal);
  if (run.outcome !== undefined) return;
  if (input === undefined) {
    throw new SandboxError("UNAVAILABLE", `${run.id} has not started yet, so nothing was written: write again later`);
  }
  const before = run.log.end;
  const written = feed(input, text);
  written.catch((error) => report("input could not be written", error));
  // A program that does not read holds up who writes: it has the input when it does.
  await Promise.race([written, run.settles(waitMs, call.signal)]);
  await run.replies(before, waitMs, call.signal);
}

async function feed(input: RunInput, text: string): Promise<void> {
  for (const part of text.split(keys)) {
    if (part === endOfInput) await input.end();
    else if (part === interrupt) await input.interrupt();
    else if (part !== "") await input.write(part);
  }
}

function list(call: ToolCall) {
  const processes = call.runs.list().map((run) => ({
    process: run.id,
    ...(run.handle === undefined ? {} : { sandbox_id: run.handle }),
    running: run.outcome === undefined,
    durationMs: Math.round(run.elapsedMs),
    title: run.work.title,
  }));
  const lines = processes.map(
    ({ process, running, durationMs, title }) =>
      `${process}: ${running ? "running for" : "ended after"} ${duration(durationMs)}: ${title}`,
  );
  const none = "No run is under way.";
  return {
    content: [{ type: "text" as const, text: lines.join("\n") || none }],
    _meta: { "sandkit/processes": processes },
  };
}
