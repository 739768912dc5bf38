import { posix } from "node:path";
import type { Interpreter, JobPlace } from "../protocol.js";
import { readShebang, shebangBytes } from "../shebang.js";
import { placeOf } from "./file-change.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";

/** Where the shell's own commands are, which are no files. */
const shellDirectories = new Set(["/bin", "/usr/bin"]);
/** Of a `PATH`, which guests write, and of what is looked for there. */
const [mostDirectories, longestPath, longestName] = [100, 4096, 255];
const names = { python: "python3", javascript: "node" } as const;

/**
 * What a system would run for an executable file that names Python or Node in its first line: the interpreter with the
 * file. Undefined for everything else, of which the shell knows whether it is a command.
 */
export function scriptCommand(
  files: FileSystem,
  [program = "", ...args]: readonly string[],
  place: Pick<JobPlace, "cwd" | "env">,
  commands: ReadonlySet<string>,
): { interpreter: Interpreter; argv: readonly string[] } | undefined {
  if (isTooLong(program)) return undefined;
  const path = program.includes("/") ? posix.resolve(place.cwd, program) : findProgram(files, program, place, commands);
  const runner = path === undefined ? undefined : runnerOf(files, path);
  if (path === undefined || (runner?.by !== "python" && runner?.by !== "javascript")) return undefined;
  const script = program.includes("/") ? program : path;
  return { interpreter: runner.by, argv: [names[runner.by], ...runner.args, script, ...args] };
}

/** Whether there is such a program. @throws FileError `ENOENT`, or `EACCES` for a file that is none */
export function checkProgram(
  files: FileSystem,
  program: string,
  place: Pick<JobPlace, "cwd" | "env">,
  commands: ReadonlySet<string>,
): void {
  if (isTooLong(program)) throw new FileError("ENAMETOOLONG", "the program");
  if (!program.includes("/")) {
    if (commands.has(program) || findProgram(files, program, place, commands) !== undefined) return;
    throw new FileError("ENOENT", program);
  }
  const path = posix.resolve(place.cwd, program);
  if (shellDirectories.has(posix.dirname(path)) && commands.has(posix.basename(path))) return;
  if (!placeOf(files, path, true)?.inode) throw new FileError("ENOENT", program);
  if (!runnerOf(files, path)) throw new FileError("EACCES", program);
}

/** The first executable file of that name, unless a command of the shell comes before it. */
function findProgram(
  files: FileSystem,
  program: string,
  { cwd, env }: Pick<JobPlace, "cwd" | "env">,
  commands: ReadonlySet<string>,
): string | undefined {
  for (const directory of (env.PATH ?? "").split(":", mostDirectories)) {
    if (shellDirectories.has(directory)) {
      if (commands.has(program)) return undefined;
      continue;
    }
    if (directory === "" || directory.length > longestPath || program === "") continue;
    const path = posix.resolve(cwd, directory, program);
    if (runnerOf(files, path)) return path;
  }
  return undefined;
}

function isTooLong(program: string): boolean {
  return program.length > (program.includes("/") ? longestPath : longestName);
}

function runnerOf(files: FileSystem, path: string): ReturnType<typeof readShebang> | undefined {
  const inode = placeOf(files, path, true)?.inode;
  if (inode?.kind !== "file" || (inode.mode & 0o111) === 0) return undefined;
  const head = Buffer.alloc(shebangBytes);
  return readShebang(head.toString("latin1", 0, inode.content.read(0, head)));
}
