import type { RunCodeOptions, Sandbox } from "@sandkit/core";
import * as z from "zod";
import { invalid } from "../result/error-result.js";
import type { RunEnd } from "../result/run-result.js";
import { abridged } from "../result/text.js";
import { requireCells } from "./require-cells.js";
import { startRun } from "./start-run.js";
import { checkSize, defineTool, packageNames, sandboxId, timeout, waitSeconds } from "./tool.js";

export const runCode = defineTool({
  name: "run_code",
  description: () =>
    "Run code in a sandbox. Variables, imports and files stay for later calls in the same language. Returns stdout, stderr, the value of the last expression and figures as images.",
  input: (context) =>
    z.strictObject({
      code: z.string(),
      language: z.enum(context.surface.languages).optional(),
      ...packageNames(context, "Python packages to install first"),
      timeout: timeout(context),
      wait_s: waitSeconds(
        context,
        `Seconds until the answer, default ${context.config.waitSeconds}; what has not ended goes on as a process`,
      ),
      sandbox_id: sandboxId(context),
    }),
  annotations: ({ openWorld }) => ({ readOnlyHint: false, destructiveHint: openWorld, openWorldHint: openWorld }),
  prepare: (input) => (input.language === "bash" ? { ...input, language: "shell" } : { ...input }),
  check({ code }, context) {
    if (code.trim() === "") throw invalid("run_code: code is empty: pass the program to run");
    checkSize("code", code, context);
  },
  act: ({ code, language }, { surface }) => ({
    act: `run ${language ?? surface.languages[0] ?? "python"} code`,
    text: code,
    parameter: "code",
    changes: true,
  }),
  async run(input, call) {
    const { code, packages = [], sandbox_id: sandboxId } = input;
    const language = input.language ?? call.surface.languages[0] ?? "python";
    if (packages.length > 0 && (language === "javascript" || language === "typescript")) {
      throw invalid(`run_code: packages are those of Python, not of ${language}: install with exec, for example npm`);
    }
    const timeoutSeconds = input.timeout ?? call.config.timeoutSeconds;
    const bounds = { timeoutMs: timeoutSeconds * 1000, maxOutputBytes: call.config.maxOutputBytes };
    return await startRun(
      call,
      {
        title: abridged(code.trim().replaceAll(/\s+/g, " "), 80),
        queue: language,
        timeoutSeconds,
        sandboxId,
        packages,
        run: (sandbox, { signal, onOutput }) =>
          runIn(sandbox, code, { ...bounds, signal, onOutput, language: language === "shell" ? "bash" : language }),
      },
      input.wait_s ?? call.config.waitSeconds,
    );
  },
});

/** As a cell; a sandbox without cells of the shell runs the code as a command. */
async function runIn(sandbox: Sandbox, code: string, options: RunCodeOptions): Promise<RunEnd> {
  if (options.language !== "bash" || sandbox.capabilities.features["kernel.bash"]) {
    requireCells(options.language, sandbox.capabilities);
    return await sandbox.runCode(code, options);
  }
  const { language: _, ...bounds } = options;
  return await sandbox.exec(code, bounds);
}
