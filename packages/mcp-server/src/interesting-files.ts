import { posix } from "node:path";
import { type FileInfo, type Sandbox, SandboxError } from "@sandkit/core";

/** How far a look at the working directory goes: it is one request, whatever lies there. */
const look = { recursive: true, maxDepth: 4, limit: 2_000 };
const uninteresting = /(?:^|\/)(?:\.[^/]*|__pycache__|node_modules)(?:\/|$)/;

/** The files under the working directory that somebody may want to have: none that is hidden or that a tool made. */
export async function interestingFiles(sandbox: Sandbox): Promise<FileInfo[]> {
  try {
    const entries = await sandbox.files.list(".", look);
    return entries.filter(
      (entry) => entry.type === "file" && !uninteresting.test(posix.relative(sandbox.workdir, entry.path)),
    );
  } catch (error) {
    // A program may remove its own working directory.
    if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") return [];
    throw error;
  }
}
