import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Config } from "../config.js";
import type { LogPage } from "../runs/run-log.js";
import { errorResult } from "./error-result.js";
import { showPage } from "./shown-output.js";

/** Why a run could not be run or followed to its end, with what it had written by then. */
export function failedResult(error: unknown, page: LogPage, config: Config): CallToolResult {
  const failed = errorResult(error);
  const { text } = showPage(page, config);
  if (text === "") return failed;
  return { ...failed, content: [...failed.content, { type: "text", text: `Output before that:\n${text}` }] };
}
