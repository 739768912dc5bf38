import type { ExecResult, Sandbox } from "@sandkit/core";

/** What a program did, as `run --json` and `exec --json` print it. */
export function resultAsJson(result: ExecResult, exitStatus: number, { ref }: Sandbox) {
  const { stdout, stderr, ...ending } = result;
  return {
    ...ending,
    exitStatus,
    stdout: stdout.text,
    stderr: stderr.text,
    totalBytes: { stdout: stdout.totalBytes, stderr: stderr.totalBytes },
    truncated: { stdout: stdout.truncated, stderr: stderr.truncated },
    provider: ref.provider,
  };
}
