import { posix } from "node:path";
import { type Sandbox, SandboxError } from "@sandkit/core";

/** Links that one path may lead over. */
const maxLinks = 40;

/** The real path of each sandbox's working directory. */
const roots = new WeakMap<Sandbox, Promise<string>>();

/**
 * The real path of a file below the working directory, every link on the way followed.
 * @throws SandboxError `PERMISSION` when it leads out of there, `FILE_NOT_FOUND`, `NOT_DIRECTORY`
 */
export async function confinedPath(sandbox: Sandbox, path: string): Promise<string> {
  if (path.includes("\0")) {
    throw new SandboxError("INVALID", `a path cannot contain NUL: ${JSON.stringify(path)}`);
  }
  const root = await rootOf(sandbox);
  const real = await realPath(sandbox, posix.resolve(root, path), root);
  if (isWithin(root, real)) return real;
  throw new SandboxError(
    "PERMISSION",
    `${path} leads out of the working directory ${root}: resources are the files below it; read others with the tool read_file`,
  );
}

function rootOf(sandbox: Sandbox): Promise<string> {
  const known = roots.get(sandbox);
  if (known !== undefined) return known;
  const root = realPath(sandbox, sandbox.workdir, "/");
  roots.set(sandbox, root);
  // A sandbox that did not answer is asked again.
  root.catch(() => roots.delete(sandbox));
  return root;
}

/** What is below `real` already needs no look at the directories above. */
async function realPath(sandbox: Sandbox, path: string, real: string): Promise<string> {
  const known = isWithin(real, path) ? real : "/";
  let done = known;
  const rest = namesIn(posix.relative(known, path));
  for (let links = 0; rest.length > 0; ) {
    const next = posix.join(done, rest.shift() ?? "");
    const { type, symlinkTarget } = await sandbox.files.stat(next, { followSymlinks: false });
    if (type !== "symlink" || symlinkTarget === undefined) {
      done = next;
      continue;
    }
    links += 1;
    if (links > maxLinks) throw new SandboxError("FILE_NOT_FOUND", `${path} leads over more than ${maxLinks} links`);
    rest.unshift(...namesIn(posix.resolve(done, symlinkTarget)));
    done = "/";
  }
  return done;
}

function namesIn(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}
