import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { AgentFailure } from "./failure.mjs";

/** What execve(2) says to each of these. */
export const reasons = {
  EACCES: "Permission denied",
  ENOEXEC: "Exec format error",
  E2BIG: "Argument list too long",
  ENOMEM: "Cannot allocate memory",
  ETXTBSY: "Text file busy",
  ELOOP: "Too many levels of symbolic links",
  ENAMETOOLONG: "File name too long",
};

/** The paths that a name may mean, in the order of PATH. */
function candidates(name, path) {
  if (name.includes("/")) return [name];
  return name === "" ? [] : path.split(":").map((folder) => `${folder || "."}/${name}`);
}

/** The errno that keeps a file from being executed; null when nothing does. */
function obstacle(file) {
  let descriptor;
  try {
    if (!statSync(file).isFile()) return "EACCES";
    accessSync(file, constants.X_OK);
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    // Node would run a file of neither kind as a shell script.
    const head = Buffer.alloc(4);
    readSync(descriptor, head, 0, 4, 0);
    const text = head.toString("latin1");
    return text.startsWith("#!") || text === "\x7fELF" ? null : "ENOEXEC";
  } catch (error) {
    // It may be executed but not be read: then it is for the kernel to say.
    if (error.syscall === "open") return null;
    return error.code;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Looks a program up as the kernel would. Answers `{ file }`, or `{ errno }` for why there is none. */
export function findProgram(name, { path, cwd }) {
  let errno = "ENOENT";
  for (const candidate of candidates(name, path)) {
    const file = candidate.startsWith("/") ? candidate : `${cwd}/${candidate}`;
    const found = obstacle(file);
    if (found === null) return { file };
    if (found !== "ENOENT" && found !== "ENOTDIR") errno = found;
  }
  return { errno };
}

/** @throws AgentFailure `ENOENT`, `ENOTDIR` or `EACCES` when no program can run there */
export function checkDirectory(path) {
  if (!statSync(path).isDirectory()) throw new AgentFailure("ENOTDIR", `${path} is no directory`);
  accessSync(path, constants.X_OK);
}
