import { z } from "zod";
import { invalid } from "../result/error-result.js";
import { runResult } from "../result/run-result.js";
import { splitCommand } from "../split-command.js";
import { checkSize, defineTool, run, sandboxId, timeout } from "./tool.js";

export const exec = defineTool({
  name: "exec",
  description: ({ surface }) =>
    surface.commands === "argv"
      ? "Run one program with its arguments in a sandbox, such as `python3 main.py`. No shell: no pipes, redirects or variables."
      : "Run a shell command in a sandbox. Each call starts in the working directory.",
  input: (context) =>
    z.strictObject({
      command: z.string(),
      cwd: z.string().min(1).optional(),
      stdin: z.string().optional(),
      timeout: timeout(context),
      sandbox_id: sandboxId(context),
    }),
  annotations: ({ openWorld }) => ({ readOnlyHint: false, destructiveHint: openWorld, openWorldHint: openWorld }),
  async run(input, call) {
    if (input.command.trim() === "") throw invalid("exec: command is empty: pass a command line");
    checkSize("command", input.command, call);
    checkSize("stdin", input.stdin, call);
    const timeoutSeconds = input.timeout ?? call.config.timeoutSeconds;
    const used = await call.sandboxes.use(input.sandbox_id, call.making, (sandbox) =>
      run(call, sandbox, () =>
        sandbox.exec(sandbox.capabilities.features.exec ? input.command : splitCommand(input.command), {
          cwd: input.cwd,
          stdin: input.stdin,
          timeoutMs: timeoutSeconds * 1000,
          signal: call.signal,
          maxOutputBytes: call.config.maxOutputBytes,
        }),
      ),
    );
    return runResult(used, { ...call, timeoutSeconds });
  },
});
