import { posix } from "node:path";
import type { Interpreter, JobPlace } from "../protocol.js";
import { readShebang, shebangBytes } from "../shebang.js";
import { placeOf } from "./file-change.js";
import type { FileSystem } from "./filesystem.js";

/** Where the shell's own commands are, which are no files. */
const shellDirectories = new Set(["/bin", "/usr/bin"]);
const names = { python: "python3", javascript: "node" } as const;

/**
 * What a system would run for an executable file that names Python or Node in its first line: the interpreter with the
 * file. Undefined for everything else, of which the shell knows whether it is a command.
 */
export function scriptCommand(
  files: FileSystem,
  [program = "", ...args]: readonly string[],
  { cwd, env }: Pick<JobPlace, "cwd" | "env">,
): { interpreter: Interpreter; argv: readonly string[] } | undefined {
  const path = program.includes("/") ? posix.resolve(cwd, program) : findProgram(files, program, cwd, env.PATH ?? "");
  const runner = path === undefined ? undefined : runnerOf(files, path);
  if (path === undefined || (runner?.by !== "python" && runner?.by !== "javascript")) return undefined;
  const script = program.includes("/") ? program : path;
  return { interpreter: runner.by, argv: [names[runner.by], ...runner.args, script, ...args] };
}

/** The first executable file of that name, unless the shell's own commands come before it. */
function findProgram(files: FileSystem, program: string, cwd: string, search: string): string | undefined {
  for (const directory of search.split(":")) {
    if (shellDirectories.has(directory)) return undefined;
    const path = posix.resolve(cwd, directory, program);
    if (directory !== "" && program !== "" && runnerOf(files, path)) return path;
  }
  return undefined;
}

function runnerOf(files: FileSystem, path: string): ReturnType<typeof readShebang> | undefined {
  const inode = placeOf(files, path, true)?.inode;
  if (inode?.kind !== "file" || (inode.mode & 0o111) === 0) return undefined;
  const head = Buffer.alloc(shebangBytes);
  return readShebang(head.toString("latin1", 0, inode.content.read(0, head)));
}
