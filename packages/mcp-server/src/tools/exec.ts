import type { ExecResult, Sandbox } from "@sandkit/core";
import * as z from "zod";
import { invalid } from "../result/error-result.js";
import { abridged } from "../result/text.js";
import type { WorkControls } from "../runs/work.js";
import { splitCommand } from "../split-command.js";
import { startRun } from "./start-run.js";
import { checkSize, defineTool, sandboxId, timeout, waitSeconds } from "./tool.js";

/** How long a call waits for what a program that takes input says, where nothing else is asked for, in seconds. */
const interactiveWaitSeconds = 10;

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
      interactive: z.boolean().meta({ description: "Keep stdin open for process" }).optional(),
      timeout: timeout(context),
      wait_s: waitSeconds(context, `As in run_code`),
      sandbox_id: sandboxId(context),
    }),
  annotations: ({ openWorld }) => ({ readOnlyHint: false, destructiveHint: openWorld, openWorldHint: openWorld }),
  check({ command, stdin }, context) {
    if (command.trim() === "") throw invalid("exec: command is empty: pass a command line");
    checkSize("command", command, context);
    checkSize("stdin", stdin, context);
  },
  act: ({ command }) => ({ act: "run a command", text: command, parameter: "command", changes: true }),
  async run(input, call) {
    const { command, cwd, stdin, interactive = false, sandbox_id: sandboxId } = input;
    const timeoutSeconds = input.timeout ?? call.config.timeoutSeconds;
    const options = { cwd, stdin, timeoutMs: timeoutSeconds * 1000, maxOutputBytes: call.config.maxOutputBytes };
    const wait = input.wait_s ?? (interactive ? interactiveWaitSeconds : call.config.waitSeconds);
    return await startRun(
      call,
      {
        title: abridged(command.trim().replaceAll(/\s+/g, " "), 80),
        timeoutSeconds,
        interactive,
        sandboxId,
        packages: [],
        run: async (sandbox, controls) =>
          interactive
            ? await converse(sandbox, command, options, controls)
            : await sandbox.exec(commandFor(sandbox, command), {
                ...options,
                signal: controls.signal,
                onOutput: controls.onOutput,
              }),
      },
      wait,
    );
  },
});

function commandFor(sandbox: Sandbox, command: string): string | string[] {
  return sandbox.capabilities.features.exec ? command : splitCommand(command);
}

interface ConverseOptions {
  readonly cwd: string | undefined;
  readonly stdin: string | undefined;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** Runs a program whose stdin stays open, after what it was given to begin with. */
async function converse(
  sandbox: Sandbox,
  command: string,
  { stdin, ...options }: ConverseOptions,
  { signal, onOutput, takesInput }: WorkControls,
): Promise<ExecResult> {
  const process = await sandbox.spawn(plainWords(sandbox, command), { ...options, signal, onOutput });
  takesInput({
    write: (text) => process.write(text),
    end: () => process.closeStdin(),
    interrupt: () => process.kill("SIGINT"),
  });
  if (stdin !== undefined) await process.write(stdin);
  return await process.wait();
}

/** An emulated shell reads its input to the end before it begins: a program is started without it where that does. */
function plainWords(sandbox: Sandbox, command: string): string | string[] {
  if (sandbox.capabilities.features.exec === "native") return command;
  try {
    return splitCommand(command);
  } catch (error) {
    if (sandbox.capabilities.features.exec === false) throw error;
    return command;
  }
}
