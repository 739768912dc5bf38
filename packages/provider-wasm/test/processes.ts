import { existsSync, readFileSync } from "node:fs";

/** Process ids of the children that the main thread of a process has started. */
export function childrenOf(pid: number | string = process.pid): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
}

/** The process that holds the sandbox: the last behind the walls that a child of ours has become. */
export function innermost(pid: string): string {
  const [inner] = childrenOf(pid);
  return inner === undefined ? pid : innermost(inner);
}

/** The process that has started one. */
export function callerOf(pid: string): string {
  return /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
}

/** Whether a process runs; a zombie does not. */
export function lives(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
