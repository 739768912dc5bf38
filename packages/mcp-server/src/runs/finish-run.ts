import type { Captured, Sandbox } from "@sandkit/core";
import { observingFiles } from "../changed-files.js";
import type { Config } from "../config.js";
import { keepOutput, type ToKeep } from "../kept-output.js";
import type { Run, RunEnd } from "../result/run-result.js";
import { showOutput } from "../result/shown-output.js";
import { isBinary } from "../result/terminal-text.js";

/**
 * Runs something to its end; finds the files that it left unless the config says not to look, and keeps what is too
 * long to show, or no text.
 */
export async function finishRun<Ended extends RunEnd>(
  sandbox: Sandbox,
  config: Config,
  signal: AbortSignal,
  action: () => Promise<Ended>,
): Promise<Run> {
  const look = config.fileLinks && sandbox.capabilities.features.files !== false;
  const { ended, changed } = look
    ? await observingFiles(sandbox, signal, action)
    : { ended: await action(), changed: [] };
  const shown = showOutput(ended, config);
  const items = [...shown.cut.map((name) => streamToKeep(name, ended[name])), ...shown.attachments];
  return { ended, changed, shown, kept: await keepOutput(sandbox, items, signal) };
}

function streamToKeep(stream: "stdout" | "stderr", captured: Captured): ToKeep {
  const name = `${stream}.${isBinary(captured.text) ? "bin" : "txt"}`;
  if (!captured.truncated) return { label: `${stream} in full`, name, data: captured.bytes };
  // The text says where its middle is missing; whole bytes are exact.
  const data = Buffer.from(captured.text);
  return { label: `${stream}, head and tail`, name, data, totalBytes: captured.totalBytes };
}
