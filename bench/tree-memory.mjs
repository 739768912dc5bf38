import { readdirSync, readFileSync } from "node:fs";

/**
 * Memory that what a process has started takes, each shared page by its share, in bytes: what one more costs. NaN
 * where there is no /proc.
 * @param {number} pid
 */
export function memoryBelow(pid) {
  if (process.platform !== "linux") return Number.NaN;
  return below(pid)
    .map((id) => readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))
    .reduce((sum, text) => sum + Number(/^Pss:\s*(\d+)/m.exec(text)?.[1] ?? 0) * 1024, 0);
}

/**
 * Processes below one: a sandbox is behind one or two that only hold it.
 * @param {number | string} pid
 * @returns {string[]}
 */
function below(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}
