import type { ExecResult, IFileSystem } from "just-bash";
import { FileFailure } from "./broker.js";
import { bytesOfLatin1 } from "./bytes.js";
import { type Invocation, readInvocation } from "./invocation.js";
import { quote, type Run, runScript } from "./nested.js";

export type Script = Extract<Invocation, { kind: "script" }>;

/** What a shell has before its first command: the text that sets its options, and its arguments as variables. */
export function prepare({ name, positional, options }: Script): { first: string; env: Record<string, string> } {
  const env: Record<string, string> = { 0: name, "#": `${positional.length}`, "@": positional.join(" ") };
  for (const [index, value] of positional.entries()) env[`${index + 1}`] = value;
  // On the first line, so that the others keep their numbers.
  return { first: options.length > 0 ? `set ${options.map(quote).join(" ")};` : "", env };
}

/** The text of a script, or why there is none. @param input What the shell has as its stdin, one character for a byte */
export async function readScript(
  { source, name }: Script,
  fs: IFileSystem,
  cwd: string,
  input: string,
): Promise<{ text: string } | { failed: ExecResult }> {
  if ("text" in source) return source;
  if ("stdin" in source) return { text: new TextDecoder().decode(bytesOfLatin1(input)) };
  try {
    const text = await fs.readFile(fs.resolvePath(cwd, source.file));
    return text.includes("\0") ? refused(name, "cannot execute binary file", 126) : { text };
  } catch (error) {
    if (!(error instanceof FileFailure)) throw error;
    return refused(name, error.reason, error.code === "ENOENT" || error.code === "ENOTDIR" ? 127 : 126);
  }
}

function refused(name: string, reason: string, exitCode: number): { failed: ExecResult } {
  return { failed: { stdout: "", stderr: `bash: ${name}: ${reason}\n`, exitCode } };
}

/** `bash` and `sh` within a script: a shell of its own. */
export function shellCommand(command: string): Run {
  return async (args, context) => {
    const invocation = readInvocation([command, ...args]);
    if (invocation.kind !== "script") return usage(invocation);
    const fromInput = "stdin" in invocation.source;
    const read = await readScript(invocation, context.fs, context.cwd, fromInput ? `${context.stdin}` : "");
    if ("failed" in read) return read.failed;
    const { first, env } = prepare(invocation);
    return runScript(context, first + read.text, { env, ...(fromInput && { stdin: "" }) });
  };
}

function usage(invocation: Exclude<Invocation, Script>): ExecResult {
  if (invocation.kind === "command") throw new Error("it is no shell");
  const { message, exitCode } = invocation;
  return exitCode === 0 ? { stdout: message, stderr: "", exitCode } : { stdout: "", stderr: message, exitCode };
}
