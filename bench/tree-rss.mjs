import { readdirSync, readFileSync } from "node:fs";

/**
 * Resident memory of a process and all that it started, in bytes; NaN where there is no /proc.
 * @param {number} pid
 */
export function treeRssBytes(pid) {
  if (process.platform !== "linux") return Number.NaN;
  const parents = new Map(numbersIn("/proc").map((id) => [id, fieldOf(id, "PPid")]));
  const tree = new Set([pid]);
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const [id, parent] of parents) if (tree.has(parent)) tree.add(id);
  }
  return [...tree].reduce((sum, id) => sum + fieldOf(id, "VmRSS") * 1024, 0);
}

/** @param {string} folder */
function numbersIn(folder) {
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/**
 * @param {number} pid
 * @param {string} field
 */
function fieldOf(pid, field) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
  } catch (error) {
    // It has ended since it was listed.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return 0;
    throw error;
  }
}
