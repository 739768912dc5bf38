import type { CallToolResult } from "@modelcontextprotocol/server";
import { type ErrorCode, SandboxError, toSandboxError } from "@sandkit/core";
import { abridged } from "./text.js";

/** What a model, or the person behind it, does next; the message has said what failed and on what. */
const nextSteps: Partial<Record<ErrorCode, string>> = {
  AUTH: "Ask the user to set the provider's key in the server's environment and to restart it.",
  RATE_LIMITED: "Wait, then call again.",
  UNAVAILABLE: "Call again once that is so; if it is not yours to fix, tell the user.",
  TIMEOUT: "Call again; if it keeps happening, tell the user.",
  TRANSPORT: "It is unknown whether the run took place: look at the files before you repeat it.",
  SANDBOX_LOST: "Files and variables are gone. The next call starts in a new sandbox; repeat what is safe to repeat.",
  FILE_NOT_FOUND: 'List the directory with read_file (path ".") to see what is there.',
  IS_DIRECTORY: "read_file lists a directory; name a file in it.",
  NOT_DIRECTORY: "Part of the path is a file; list its parent with read_file.",
  PERMISSION: "Choose a path under the working directory.",
  NO_SPACE: "Remove files, then call again.",
  KERNEL_UNAVAILABLE: "Choose another language, or start the program with exec.",
  UNSUPPORTED: "This provider cannot do it; choose another way.",
  DENIED: "Do not repeat it unchanged.",
};

const maxMessageChars = 2_000;

/** A failure as a tool result: code, what failed on what, what to do next. */
export function errorResult(reason: unknown): CallToolResult {
  const error = toSandboxError(reason, "UNAVAILABLE");
  const next = nextSteps[error.code];
  // A message repeats what it was given; a path of megabytes is not sent back.
  const message = abridged(error.message, maxMessageChars);
  const text = `${error.code}: ${message}${next === undefined ? "" : `\n${next}`}`;
  return {
    content: [{ type: "text", text }],
    isError: true,
    _meta: { "sandkit/error": { ...error.toJSON(), message } },
  };
}

/** Bad input of a call, in the words of its parameters. */
export function invalid(message: string): SandboxError {
  return new SandboxError("INVALID", message);
}
