import type { CellResult, ExecResult } from "@sandkit/core";
import { z } from "zod";
import { invalid } from "../result/error-result.js";
import { runResult } from "../result/run-result.js";
import { checkSize, defineTool, run, sandboxId, timeout } from "./tool.js";

export const runCode = defineTool({
  name: "run_code",
  description: () =>
    "Run code in a sandbox. Variables, imports and files stay for later calls in the same language. Returns stdout, stderr, the value of the last expression and figures as images.",
  input: (context) =>
    z.strictObject({
      code: z.string(),
      language: z.enum(context.surface.languages).optional(),
      timeout: timeout(context),
      sandbox_id: sandboxId(context),
    }),
  annotations: ({ openWorld }) => ({ readOnlyHint: false, destructiveHint: openWorld, openWorldHint: openWorld }),
  prepare: (input) => (input.language === "bash" ? { ...input, language: "shell" } : { ...input }),
  async run(input, call) {
    if (input.code.trim() === "") throw invalid("run_code: code is empty: pass the program to run");
    checkSize("code", input.code, call);
    const timeoutSeconds = input.timeout ?? call.config.timeoutSeconds;
    const options = {
      timeoutMs: timeoutSeconds * 1000,
      signal: call.signal,
      maxOutputBytes: call.config.maxOutputBytes,
    };
    const context = { ...call, timeoutSeconds };
    const language = input.language ?? call.surface.languages[0] ?? "python";
    if (language !== "shell") {
      const used = await call.sandboxes.use(input.sandbox_id, call.making, (sandbox) =>
        run(call, sandbox, () => sandbox.runCode(input.code, { ...options, language })),
      );
      return runResult(used, context);
    }
    const used = await call.sandboxes.use(input.sandbox_id, call.making, (sandbox) =>
      run<CellResult | ExecResult>(call, sandbox, () =>
        sandbox.capabilities.features["kernel.bash"]
          ? sandbox.runCode(input.code, { ...options, language: "bash" })
          : sandbox.exec(input.code, options),
      ),
    );
    return runResult(used, context);
  },
});
