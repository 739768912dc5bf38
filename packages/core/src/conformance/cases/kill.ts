import { strict as assert } from "node:assert";
import type { Feature } from "../../capabilities.js";
import type { ExecResult } from "../../exec.js";
import { within } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";
import { beatCount, beats, silent } from "../heartbeat.js";
import type { ProgramName } from "../programs.js";

/** Trees that are hard to end, each beating in a file. */
const trees: readonly { readonly program: ProgramName; readonly what: string; readonly reports: readonly string[] }[] =
  [
    { program: "heartbeat", what: "the program itself", reports: ["e2b-dev/E2B#500"] },
    { program: "child", what: "a background child", reports: ["e2b-dev/E2B#1031", "mastra-ai/mastra#23773"] },
    { program: "own-session", what: "a child in a session of its own", reports: ["e2b-dev/E2B#1031"] },
    { program: "double-fork", what: "a double fork with a cleared environment", reports: [] },
    {
      program: "daemon",
      what: "a double fork in a session of its own with a cleared environment",
      reports: ["openclaw/openclaw#110735"],
    },
    {
      program: "ignore-term",
      what: "a program that ignores SIGTERM",
      reports: ["UKGovernmentBEIS/inspect_ai#1357", "UKGovernmentBEIS/inspect_ai#2779"],
    },
    {
      program: "deaf-child",
      what: "a background child that ignores SIGTERM, whose parent does not,",
      reports: ["openclaw/openclaw#110735"],
    },
  ];

interface End {
  readonly by: string;
  readonly title: (what: string) => string;
  readonly needs: readonly Feature[];
  readonly reason: ExecResult["reason"];
  run(context: ConformanceContext, command: string[], beat: string, attempt: number): Promise<ExecResult>;
}

const ends: readonly End[] = [
  {
    by: "timeout",
    title: (what) => `after a timeout ${what} is dead when the call settles`,
    needs: [],
    reason: "timeout",
    run: ({ shared }, command, _beat, attempt) => shared.exec(command, { timeoutMs: 600 * attempt ** 2 }),
  },
  {
    by: "abort",
    title: (what) => `after an abort ${what} is dead when the call settles`,
    needs: [],
    reason: "aborted",
    async run({ shared }, command, beat) {
      const stop = new AbortController();
      const run = shared.exec(command, { signal: stop.signal });
      await beats(shared, beat).finally(() => stop.abort());
      return run;
    },
  },
  {
    by: "process",
    title: (what) => `after kill() of a process ${what} is dead`,
    needs: ["process.background"],
    reason: "signaled",
    async run({ shared }, command, beat) {
      const process = await shared.spawn(command);
      await beats(shared, beat).finally(() => process.kill());
      return process.wait();
    },
  },
];

/** A timeout on a busy machine may strike before the tree is there: then it gets a longer one. */
async function endTree(end: End, tree: ProgramName, context: ConformanceContext): Promise<void> {
  const { shared, program, path } = context;
  for (let attempt = 1; ; attempt++) {
    const beat = path(`beat-${attempt}`);
    const result = await within(20_000, "the call", end.run(context, program(tree, beat), beat, attempt));
    const beaten = await beatCount(shared, beat);
    if (beaten === 0 && attempt < 4) continue;
    assert.equal(result.reason, end.reason);
    assert.equal(result.exitCode, null);
    assert.equal(result.stdout.text, "ready", "output from before the end is kept");
    return silent(shared, beat, beaten);
  }
}

/** The deadline really ends the work: every way to end a command, on every kind of tree. */
export const killCases: readonly ConformanceCase[] = ends.flatMap((end) =>
  trees.map(({ program, what, reports }) => ({
    id: `kill.${end.by}.${program}`,
    title: end.title(what),
    needs: ["exec.argv", "exec.killTree", "files", ...end.needs],
    programs: [program],
    reports,
    run: (context) => endTree(end, program, context),
  })),
);
